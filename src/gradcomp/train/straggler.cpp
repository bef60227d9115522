#include "gradcomp/train/straggler.hpp"

#include <chrono>
#include <cmath>
#include <thread>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/number.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/data/counter_rng.hpp"
#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp::train {
namespace {

constexpr const char* allowed = "rank=N,factor=F with F of 1 to 100, jitter=J with J of 0 to 10, or both";

double number(const std::string& text, const std::string& whole) {
  const auto value = to_number<double>(text);
  require(value.has_value(), "--straggler {} is not allowed: '{}' is not a number", whole, text);
  return *value;
}

}  // namespace

StragglerOptions StragglerOptions::parse(const std::string& text) {
  StragglerOptions options;
  bool has_factor = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size()), equals = text.find('=', begin);
    require(equals < end, "--straggler {} is not allowed; allowed: {}", text, allowed);
    const std::string key = text.substr(begin, equals - begin);
    const double value = number(text.substr(equals + 1, end - equals - 1), text);
    if (key == "rank") {
      require(value >= 0 && value < 1e6 && value == std::floor(value), "--straggler {} is not allowed; allowed: {}",
              text, allowed);
      options.rank = static_cast<int>(value);
    } else if (key == "factor") {
      require(value >= 1 && value <= 100, "--straggler {} is not allowed; allowed: {}", text, allowed);
      options.factor = value;
      has_factor = true;
    } else {
      require(key == "jitter" && value >= 0 && value <= 10, "--straggler {} is not allowed; allowed: {}", text,
              allowed);
      options.jitter = value;
    }
    begin = end + 1;
  }
  require((options.rank >= 0) == has_factor,
          "--straggler {} is not allowed: rank and factor belong together; allowed: {}", text, allowed);
  return options;
}

double Straggler::factor(index_t step) const {
  constexpr std::uint64_t stream = 0x5354;
  const double fixed = m_rank == m_options.rank ? m_options.factor : 1;
  if (m_options.jitter == 0) return fixed;
  const std::uint64_t bits =
      data::CounterRng(m_seed ^ stream << 48, static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(m_rank))
          .next();
  const double u = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  return fixed * (1 - m_options.jitter * std::log(u));
}

void Straggler::begin(index_t step) {
  if (!m_options.is_set()) return;
  m_factor = factor(step);
  resume();
}

void Straggler::resume() {
  if (m_options.is_set()) m_since = now_seconds();
}

void Straggler::pause(const Exec& exec) {
  constexpr double shortest_sleep = 2e-4;  // a sleep ends late by about a tenth of this
  if (!m_options.is_set()) return;
  if (!device_is_host) wait(exec, "gradcomp::train::straggler");
  const double now = now_seconds();
  m_owed += (m_factor - 1) * (now - m_since);
  if (m_owed < shortest_sleep) return;
  std::this_thread::sleep_for(std::chrono::duration<double>(m_owed));
  m_owed -= now_seconds() - now;
}

}  // namespace gradcomp::train
