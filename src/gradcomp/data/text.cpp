#include "gradcomp/data/text.hpp"

#include <fmt/format.h>

#include "gradcomp/data/files.hpp"
#include "gradcomp/data/registry.hpp"

namespace gradcomp::data {
namespace {

std::string checksum(const TextData& data) {
  std::uint32_t crc = 0;
  for (const auto& word : data.vocabulary) {
    crc = crc32(reinterpret_cast<const std::uint8_t*>(word.c_str()), word.size() + 1, crc);  // with the final zero
  }
  for (const auto* tokens : {&data.train, &data.validation, &data.test}) {
    crc = crc32(reinterpret_cast<const std::uint8_t*>(tokens->data()), tokens->size() * sizeof(std::int32_t), crc);
  }
  return fmt::format("{:08x}", crc);
}

}  // namespace

TextData open_text(const std::string& text) {
  TextData data = check_dataset(text, "text", is_text).text(split_spec(text));
  data.crc = checksum(data);
  return data;
}

}  // namespace gradcomp::data
