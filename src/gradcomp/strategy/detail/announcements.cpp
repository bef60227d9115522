#include "gradcomp/strategy/detail/announcements.hpp"

#include <numeric>
#include <utility>

#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp {
namespace {
constexpr index_t message_bytes = sizeof(std::int64_t);
}

Announcements::Announcements(Transport& transport, int tag, std::size_t buckets)
    : m_transport(transport), m_tag(tag), m_heard("gradcomp::strategy::announcements::heard", 1) {
  std::vector<std::int64_t> numbers(buckets);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  m_numbers = upload("gradcomp::strategy::announcements::numbers", numbers);
}

void Announcements::say(const Exec& exec, std::size_t bucket) {
  std::erase_if(m_said, [](Completion& said) { return said.test(); });
  for (int other = 1; other < m_transport.size(); ++other) {
    m_said.push_back(m_transport.start(exec, Send{m_numbers.data() + bucket, message_bytes, other, m_tag}));
  }
}

std::optional<std::size_t> Announcements::next(const Exec& exec) {
  if (m_next || (m_left == 0 && !m_coming.valid())) return m_next;
  if (!m_coming.valid()) {
    m_coming = m_transport.start(exec, Receive{m_heard.data(), message_bytes, 0, m_tag});
    --m_left;
  }
  if (!m_coming.test()) return std::nullopt;
  std::exchange(m_coming, {}).order(exec);
  std::int64_t number = -1;
  read_back(exec, Span<const std::int64_t>(m_heard), &number, "gradcomp::strategy::announcements");
  require(number >= 0 && number < static_cast<std::int64_t>(m_numbers.size()),
          "strategy priority: rank 0 announced bucket {} of {}", number, m_numbers.size());
  m_next = static_cast<std::size_t>(number);
  return m_next;
}

void Announcements::settle() {
  for (Completion& said : m_said) said.wait();
  m_said.clear();
}

}  // namespace gradcomp
