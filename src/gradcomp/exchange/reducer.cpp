#include "gradcomp/exchange/reducer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "gradcomp/exchange/allgather.hpp"
#include "gradcomp/exchange/allreduce.hpp"
#include "gradcomp/exchange/gtop_k.hpp"
#include "gradcomp/exchange/local.hpp"
#include "gradcomp/exchange/ok_topk.hpp"
#include "gradcomp/exchange/two_phase.hpp"
#include "gradcomp/exchange/vote.hpp"

namespace gradcomp {
namespace {

struct ReducerEntry {
  const char* name;
  std::unique_ptr<Reducer> (*make)(const Options&, const Compressor&, const Layout&, Communicator&);
};
constexpr std::array<ReducerEntry, 7> reducers = {{
    {"allreduce", make_allreduce},
    {"allgather", make_allgather},
    {"local", make_local},
    {"gtop_k", make_gtop_k},
    {"ok_topk", make_ok_topk},
    {"vote", make_vote},
    {"two_phase", make_two_phase},
}};

/// On the clock of now_seconds().
double seconds_of(Request::Clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

Reducer::Reducer(const Compressor& compressor, const Layout& layout, Communicator& comm)
    : m_compressor(compressor), m_comm(comm), m_state(compressor.prepare(layout)) {}

void Reducer::begin(const Source& source, const Context& context, Timeline* timeline) {
  m_source = source;
  m_context = context;
  m_timeline = timeline;
  m_bytes = {};
}

void Reducer::launch(const Exec& exec, int round) {
  m_message = Message{};
  {
    const StageScope stage(m_timeline, Stage::compress);
    produce(exec, round);
  }
  const MessageBytes bytes = handed_over();
  m_bytes.header += bytes.header;
  m_bytes.payload += bytes.payload;
  const WaitScope exposed(m_timeline);
  m_request = exchange(exec, m_message);
}

void Reducer::complete(const Exec& exec, int round) {
  {
    const WaitScope exposed(m_timeline);
    m_request->wait(exec);
  }
  if (m_timeline != nullptr) {
    m_timeline->add(Stage::exchange, seconds_of(m_request->started), seconds_of(m_request->finished));
  }
  const StageScope stage(m_timeline, Stage::decompress);
  consume(exec, round, m_message);
}

void Reducer::produce(const Exec& exec, int round) {
  m_compressor.produce(exec, round, m_source, *m_state, m_context, m_message);
}

MessageBytes Reducer::handed_over() const {
  const bool has_header = m_message.kind == MessageKind::bytes && m_message.size > 0;
  const index_t header = has_header ? payload_header_bytes : 0;
  return {m_message.bytes() - header, header};
}

bool Reducer::finish(const Exec& exec, const Span<float>& out) {
  const StageScope stage(m_timeline, Stage::decompress);
  return decompress(exec, out);
}

void Reducer::give_back(const Exec& exec, const Span<float>& out) {
  m_compressor.give_back(exec, m_source, *m_state, m_message, out);
}

std::vector<std::string> reducer_names() {
  std::vector<std::string> names;
  for (const auto& entry : reducers) names.emplace_back(entry.name);
  return names;
}

std::vector<Parameter> reducer_parameters(const Info& info) {
  const auto allows = [&](const char* name) {
    return std::find(info.reducers.begin(), info.reducers.end(), name) != info.reducers.end();
  };
  std::vector<Parameter> list = {
      Parameter::choice("reducer", info.reducers.front(), info.reducers, "how messages travel")};
  if (allows("gtop_k")) {
    list.push_back(Parameter::choice("reducer.variant", "fixed", {"fixed", "paper"},
                                     "gtop_k: fixed: merges return what they drop to the memory; paper: the authors' "
                                     "rule, which loses gradient that ranks have in common"));
  }
  if (allows("ok_topk")) {
    list.push_back(Parameter::integer("reducer.interval", "64", 1, 1000000,
                                      "ok_topk: steps between two looks at the owners' boundaries"));
    list.push_back(Parameter::choice("reducer.select", "on", {"on", "off"},
                                     "ok_topk: on: at most k sums travel on; off: all, an exact sparse allreduce"));
  }
  if (allows("two_phase")) {
    list.push_back(Parameter::choice("reducer.owner_feedback", "auto", {"auto", "none"},
                                     "two_phase: auto: owners keep a residual when the method runs with a feedback"));
  }
  return list;
}

std::unique_ptr<Reducer> make_reducer(const Options& common, const Compressor& compressor, const Layout& layout,
                                      Communicator& comm) {
  const std::string& name = common.text("reducer");
  for (const auto& entry : reducers) {
    if (name == entry.name) return entry.make(common, compressor, layout, comm);
  }
  throw Error(fmt::format("unknown reducer '{}'; allowed: {}", name, fmt::join(reducer_names(), ", ")));
}

}  // namespace gradcomp
