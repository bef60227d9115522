#include "gradcomp/kernels/lanes/fibres.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace gradcomp::kernels::fibres {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10, guard_bytes = 4096;

/// SplitMix64, https://prng.di.unimi.it/splitmix64.c
struct Random {
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    result_type z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state;
};

/// Memory for the frames of a fibre, above a page that may not be touched.
struct Stack {
  Stack() {
    void* const all =
        mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all, guard_bytes, PROT_NONE) != 0) throw std::bad_alloc();
    bottom = static_cast<char*>(all) + guard_bytes;
  }
  ~Stack() {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(bottom, stack_bytes);  // frames of a fibre that never came to its end
#endif
    munmap(bottom - guard_bytes, guard_bytes + stack_bytes);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  char* bottom;
};

/// Where the calling thread or a fibre goes on. The buffer is that of __builtin_setjmp(), which unlike swapcontext()
/// makes no system call.
struct Place {
  void* buffer[5] = {};
  const void* bottom = nullptr;  ///< of the stack
  std::size_t bytes = 0;
  void* fake_stack = nullptr;  ///< of AddressSanitizer
};

/// What a fibre does; the names are those in faults.
enum class State { runs, has_returned, waits_at_sync, waits_at_ballot, waits_at_shuffle, waits_at_barrier };
constexpr std::array<const char*, 6> state_names = {
    "runs", "has returned", "waits at sync", "waits at ballot", "waits at shuffle", "waits at barrier"};

struct Fibre {
  Stack stack;
  Place place;
  bool begun = false;
  State state = State::runs;
};

struct WarpOfFibres {
  std::array<int, warp_lanes> ready{};
  int ready_count = 0, waiting = 0;
  std::array<std::uint64_t, warp_lanes> given{}, all{};  ///< by lane: its value, and the values of the last exchange
};

/// Runs the fibres of a few teams. Fibres are kept for the next ones.
class Machine {
 public:
  Random random{first_seed()};
  std::uint64_t seed = random.state;

  void run(const std::string& label, int teams, int threads, const std::function<void(int)>& body) {
    require(m_body == nullptr, "{}: launched by a kernel", label);
    m_threads = threads;
    m_lanes = std::min(threads, warp_lanes);
    require(threads % m_lanes == 0, "{}: {} threads per team; allowed: up to 32, or a multiple of 32", label, threads);
    m_body = &body;
    prepare(teams * threads);
    m_patience = 16u << random() % 16;
    switch_to(m_outside, draw());
    m_body = nullptr;
    const auto stuck = std::find_if(m_fibres.begin(), m_fibres.begin() + m_count,
                                    [](auto& f) { return f->state != State::has_returned; });
    if (stuck == m_fibres.begin() + m_count) return;
    const std::string reason = m_reason.empty() && !m_error ? why_stuck(static_cast<int>(stuck - m_fibres.begin()))
                                                            : std::exchange(m_reason, {});
    m_fibres.clear();
    if (m_error) std::rethrow_exception(std::exchange(m_error, nullptr));
    throw Fault(fmt::format("{}: {} (GRADCOMP_LANES_SEED={})", label, reason, seed));
  }

  /// Called by a fibre: waits for all lanes of the warp, or at a barrier for all threads of the team.
  void wait(State state) {
    now().state = state;
    const bool for_team = state == State::waits_at_barrier;
    int& waiting = for_team ? m_team_waiting[index(m_now / m_threads)] : warp_of(m_now).waiting;
    const int size = for_team ? m_threads : m_lanes;
    if (++waiting == size) {
      waiting = 0;
      if (!release(m_now / size * size, size)) return switch_to(now().place, outside);
    }
    go_on();
  }
  /// The same for a warp, where every lane gives a value. The values of all lanes stay until the caller waits again; of
  /// a ballot, the first holds all bits.
  const std::array<std::uint64_t, warp_lanes>& exchange(State state, std::uint64_t value) {
    WarpOfFibres& warp = warp_of(m_now);
    warp.given[index(m_now % m_lanes)] = value;
    wait(state);
    return warp.all;
  }
  int thread() const { return m_now % m_threads; }

 private:
  static constexpr int outside = -1;
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  Fibre& fibre(int i) { return *m_fibres[index(i)]; }
  Fibre& now() { return fibre(m_now); }
  WarpOfFibres& warp_of(int i) { return m_warps[index(i / m_lanes)]; }

  void can_run(int i) {
    fibre(i).state = State::runs;
    WarpOfFibres& warp = warp_of(i);
    warp.ready[index(warp.ready_count++)] = i;
  }

  void prepare(int count) {
    m_count = count;
    while (static_cast<int>(m_fibres.size()) < count) m_fibres.push_back(std::make_unique<Fibre>());
    m_warps.assign(index(count / m_lanes), {});
    m_team_waiting.assign(index(count / m_threads), 0);
    m_order.resize(m_warps.size());
    std::iota(m_order.begin(), m_order.end(), std::size_t{0});
    std::shuffle(m_order.begin(), m_order.end(), random);
    for (int i = 0; i < count; ++i) can_run(i);
  }

  /// Draws the fibre that runs next: a lane of the first warp that can run. The order of warps changes now and then, in
  /// some runs seldom, so that a warp may come far ahead of others.
  int draw() {
    const std::uint64_t number = random();
    if ((number >> 32) % m_patience == 0) std::shuffle(m_order.begin(), m_order.end(), random);
    for (const std::size_t w : m_order) {
      WarpOfFibres& warp = m_warps[w];
      if (warp.ready_count == 0) continue;
      int& drawn = warp.ready[(number & 0xffffffffu) * index(warp.ready_count) >> 32];
      return std::exchange(drawn, warp.ready[index(--warp.ready_count)]);
    }
    return outside;
  }
  void go_on() {
    const int next = draw();
    if (next != m_now) switch_to(now().place, next);
  }

  /// Leaves for fibre `next`, or for the caller of run(), and comes back when somebody switches to `from`.
  void switch_to(Place& from, int next) {
    const bool enters = next != outside && !fibre(next).begun;
    Place& to = next == outside ? m_outside : fibre(next).place;
    if (next != outside) m_now = next;
    if (enters) enter(fibre(next));
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.bytes);
#endif
    if (enters) {
      first_jump(from.buffer, &m_entry);
    } else {
      jump(from.buffer, to.buffer);
    }
    arrive(from);
  }
  void arrive([[maybe_unused]] Place& here) {
#ifdef __SANITIZE_ADDRESS__
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &bytes);
    if (m_outside.bottom == nullptr) m_outside.bottom = bottom, m_outside.bytes = bytes;  // the first switch of all
#endif
  }

  // These functions are left in the middle and gone on with later. Inlined, the two ends of a jump would be in one
  // function, which gcc does not allow.
  [[gnu::noinline, gnu::no_sanitize_address]] static void jump(void** from, void** to) {
    if (__builtin_setjmp(from) == 0) jump_to(to);
  }
  [[gnu::noinline, gnu::no_sanitize_address]] static void jump_to(void** to) { __builtin_longjmp(to, 1); }
  [[gnu::noinline, gnu::no_sanitize_address]] static void first_jump(void** from, const ucontext_t* to) {
    if (__builtin_setjmp(from) == 0) setcontext(to);
  }

  void enter(Fibre& f) {
    f.begun = true;
    f.place.bottom = f.stack.bottom;
    f.place.bytes = stack_bytes;
    getcontext(&m_entry);
    m_entry.uc_stack.ss_sp = f.stack.bottom;
    m_entry.uc_stack.ss_size = stack_bytes;
    m_entry.uc_link = nullptr;
    makecontext(&m_entry, &Machine::live, 0);
  }
  static void live();  // of every fibre: bodies, one after the other

  /// Lets the `count` fibres from `first` on go on, if all of them wait at the same operation.
  bool release(int first, int count) {
    for (int i = first; i < first + count; ++i) {
      if (fibre(i).state == now().state) continue;
      m_reason = fmt::format("different operations: {}, {}", place(m_now), place(i));
      return false;
    }
    if (now().state != State::waits_at_barrier) warp_of(m_now).all = warp_of(m_now).given;
    if (now().state == State::waits_at_ballot) {
      for (const std::uint64_t bit : warp_of(m_now).given) warp_of(m_now).all[0] |= bit;
    }
    for (int i = first; i < first + count; ++i) can_run(i);
    return true;
  }

  std::string place(int i) {
    const int thread = i % m_threads;
    return fmt::format("lane {} of warp {} {}", thread % m_lanes, thread / m_lanes,
                       state_names[static_cast<std::size_t>(fibre(i).state)]);
  }
  /// Why fibre i waits for ever: another one, of its warp if possible, has returned or waits for others.
  std::string why_stuck(int i) {
    std::vector<int> others(index(m_lanes + m_threads));
    std::iota(others.begin(), others.begin() + m_lanes, i / m_lanes * m_lanes);
    std::iota(others.begin() + m_lanes, others.end(), i / m_threads * m_threads);
    for (const int other : others) {
      if (fibre(other).state == State::has_returned)
        return fmt::format("divergent return: {}, {}", place(other), place(i));
      if (fibre(other).state != fibre(i).state)
        return fmt::format("different operations: {}, {}", place(other), place(i));
    }
    return "no way on: " + place(i);
  }

  std::vector<std::unique_ptr<Fibre>> m_fibres;
  std::vector<WarpOfFibres> m_warps;
  std::vector<int> m_team_waiting;
  std::vector<std::size_t> m_order;  ///< of warps
  int m_count = 0, m_threads = 1, m_lanes = 1, m_now = 0;
  unsigned m_patience = 1;
  const std::function<void(int)>* m_body = nullptr;
  std::string m_reason;        ///< of a fault
  std::exception_ptr m_error;  ///< that a body threw
  Place m_outside;             ///< of run()
  ucontext_t m_entry{};
};

Machine& machine() {
  thread_local Machine one;
  return one;
}

/// The machine of the calling fibre, found without a call (fibres are no part of a shared library).
[[gnu::tls_model("initial-exec")]] constinit thread_local Machine* current = nullptr;

void Machine::live() {
  Machine& m = *current;
  m.arrive(m.now().place);
  for (;;) {
    try {
      (*m.m_body)(m.m_now / m.m_threads);
    } catch (...) {
      m.m_error = std::current_exception();
    }
    if (!m.m_error) m.now().state = State::has_returned;
    m.switch_to(m.now().place, m.m_error ? outside : m.draw());
  }
}

}  // namespace

std::uint64_t first_seed() {
  const char* const text = std::getenv("GRADCOMP_LANES_SEED");
  if (text == nullptr) return 1;
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  require(error == std::errc() && at == end, "GRADCOMP_LANES_SEED must be a number, not '{}'", text);
  return value;
}

void seed(std::uint64_t value) {
  machine().random.state = value;
  machine().seed = value;
}

int thread() { return current->thread(); }
void sync() { current->wait(State::waits_at_sync); }
void barrier() { current->wait(State::waits_at_barrier); }

std::uint32_t ballot(bool x) {
  const std::uint64_t bit = std::uint64_t{x} << (thread() % warp_lanes);
  return static_cast<std::uint32_t>(current->exchange(State::waits_at_ballot, bit)[0]);
}

std::uint64_t shuffle_word(std::uint64_t x, int from) {
  return current->exchange(State::waits_at_shuffle, x)[static_cast<std::size_t>(from & (warp_lanes - 1))];
}

void launch(const std::string& label, const Exec& exec, index_t teams, int threads, std::size_t scratch_bytes,
            const std::function<void(const Team&)>& body) {
  std::uint64_t id = 0;
  Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  Machine& on = machine();
  current = &on;
  std::vector<index_t> order(static_cast<std::size_t>(teams));
  std::iota(order.begin(), order.end(), index_t{0});
  std::shuffle(order.begin(), order.end(), on.random);
  for (index_t first = 0, together = 0; first < teams; first += together) {
    together = std::min<index_t>(teams - first, 1 + static_cast<index_t>(on.random() % 3));
    std::vector<std::byte> memory[3];
    for (auto& m : memory) m.assign(scratch_bytes, std::byte{0xcd});
    on.run(label, static_cast<int>(together), threads, [&](int t) {
      const index_t team = order[static_cast<std::size_t>(first + t)];
      body(Team(static_cast<int>(team), threads, memory[t].data(), scratch_bytes));
    });
  }
  Kokkos::Tools::endParallelFor(id);
}

}  // namespace gradcomp::kernels::fibres
