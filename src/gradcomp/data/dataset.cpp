#include "gradcomp/data/dataset.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/cifar.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/gcds.hpp"
#include "gradcomp/data/shapetex.hpp"

namespace gradcomp::data {
namespace {

constexpr const char* allowed = "cifar10:DIR, digits:FILE, gcds:FILE, shapetex10[:key=value...]";

ImageData from_gcds(const std::string& path, const std::string& name, bool mirror) {
  ImageData data = read_gcds(path);
  to_three_channels(data.train);
  to_three_channels(data.test);
  data.name = name;
  data.mirror = mirror;
  return data;
}

/// Mean and deviation per channel from integer sums, so that they are exact whatever the order.
void moments(const ImageSet& set, std::vector<float>& mean, std::vector<float>& deviation) {
  const auto channels = static_cast<std::size_t>(set.channels);
  std::vector<std::uint64_t> sum(channels), square(channels);
  for (std::size_t i = 0; i < set.pixels.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint64_t p = set.pixels[i + c];
      sum[c] += p;
      square[c] += p * p;
    }
  }
  const double n = static_cast<double>(set.count() * set.height * set.width);
  mean.assign(channels, 0.0F);
  deviation.assign(channels, 1.0F);
  for (std::size_t c = 0; c < channels && n > 0; ++c) {
    const double m = static_cast<double>(sum[c]) / n;
    const double variance = static_cast<double>(square[c]) / n - m * m;
    mean[c] = static_cast<float>(m / 255.0);
    if (variance > 1e-6) deviation[c] = static_cast<float>(std::sqrt(variance) / 255.0);
  }
}

}  // namespace

void describe(ImageData& data) {
  moments(data.train, data.mean, data.std);
  std::uint32_t crc = 0;
  for (const auto* bytes : {&data.train.pixels, &data.train.labels, &data.test.pixels, &data.test.labels}) {
    crc = crc32(bytes->data(), bytes->size(), crc);
  }
  data.crc = fmt::format("{:08x}", crc);
}

void to_three_channels(ImageSet& set) {
  if (set.channels != 1) return;
  std::vector<std::uint8_t> pixels(set.pixels.size() * 3);
  for (std::size_t i = 0; i < set.pixels.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) pixels[3 * i + c] = set.pixels[i];
  }
  set.pixels = std::move(pixels);
  set.channels = 3;
}

ImageData open_dataset(const std::string& spec) {
  const auto colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  ImageData data;
  if (kind == "shapetex10") {
    data = make_shapetex(ShapeTexOptions::parse(rest));
  } else if (kind == "cifar10" || kind == "digits" || kind == "gcds") {
    require(!rest.empty(), "data '{}' names no {}; allowed: {}", spec, kind == "cifar10" ? "folder" : "file", allowed);
    // A mirrored digit is another sign; of an unknown file nothing is known.
    data = kind == "cifar10" ? read_cifar10(rest) : from_gcds(rest, kind, false);
  } else {
    throw Error(fmt::format("unknown data '{}'; allowed: {}", spec, allowed));
  }
  describe(data);
  return data;
}

}  // namespace gradcomp::data
