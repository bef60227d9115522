#include "gradcomp/data/tokens.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/core/utf8.hpp"

namespace gradcomp::data {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) > 127;
}

/// Bytes of the token that begins at text[i], which is not white space except at the level of characters.
std::size_t token_size(std::string_view text, std::size_t i, Level level) {
  if (level == Level::characters || (level == Level::words && !in_word(text[i]))) return character_size(text, i);
  std::size_t end = i + 1;
  for (; end < text.size(); ++end) {
    const bool inner = level == Level::split ? !is_space(text[end])
                                             : in_word(text[end]) || (text[end] == '\'' && end + 1 < text.size() &&
                                                                      in_word(text[end + 1]));
    if (!inner) break;
  }
  return end - i;
}

}  // namespace

void to_lower_case(std::string& text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
}

void for_each_token(std::string_view text, Level level, const std::function<void(std::string_view token)>& visit) {
  const bool characters = level == Level::characters;
  for (std::size_t i = 0; i < text.size();) {
    if (characters || !is_space(text[i])) {
      const std::size_t size = token_size(text, i, level);
      visit(text.substr(i, size));
      i += size;
    } else {
      if (text[i] == '\n') visit(end_token);
      ++i;
    }
  }
  if (!characters && !text.empty() && text.back() != '\n') visit(end_token);
}

Vocabulary::Vocabulary(std::string_view text, Level level, index_t max_words) : m_level(level) {
  std::unordered_map<std::string_view, index_t> count;
  for_each_token(text, level, [&](std::string_view token) { ++count[token]; });
  count.erase(unknown_token);
  if (level != Level::characters) count.erase(end_token);
  std::vector<std::pair<std::string_view, index_t>> order(count.begin(), count.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  const std::size_t special = level == Level::characters ? 1 : 2;
  if (max_words > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(max_words) - special));
  for (const auto& [token, times] : order) m_words.emplace_back(token);
  m_words.emplace_back(unknown_token);
  if (special == 2) m_words.emplace_back(end_token);
  for (const auto& word : m_words) m_number.emplace(word, static_cast<std::int32_t>(m_number.size()));
}

void Vocabulary::encode(std::string_view text, std::vector<std::int32_t>& out) const {
  const std::int32_t unknown = m_number.at(unknown_token);
  for_each_token(text, m_level, [&](std::string_view token) {
    const auto found = m_number.find(token);
    out.push_back(found == m_number.end() ? unknown : found->second);
  });
}

}  // namespace gradcomp::data
