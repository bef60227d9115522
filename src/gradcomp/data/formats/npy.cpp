#include "gradcomp/data/formats/npy.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/data/detail/npy_header.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::data {
namespace {

static_assert(std::endian::native == std::endian::little, "the arrays are copied as they lie in memory");

constexpr std::string_view magic("\x93NUMPY", 6);

/// The value of an IEEE 754 binary16 code; every one is exact in float.
float from_half(std::uint16_t code) {
  const int exponent = code >> 10 & 0x1F, fraction = code & 0x3FF;
  const float sign = (code & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

template <class T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float element(const std::uint8_t* bytes, std::size_t size) {
  if (size == 2) return from_half(load<std::uint16_t>(bytes));
  return size == 4 ? load<float>(bytes) : static_cast<float>(load<double>(bytes));
}

/// Bytes of an element of type `descr`, e.g. "<f4". Throws Error for any other type than a little-endian float.
std::size_t element_size(const std::string& path, const std::string& descr) {
  constexpr const char* allowed = "allowed: little-endian floats ('<f2', '<f4', '<f8')";
  require(descr.empty() || descr[0] != '>', "'{}' holds big-endian elements '{}'; {}", path, descr, allowed);
  require(descr == "<f2" || descr == "<f4" || descr == "<f8", "'{}' holds elements of type '{}'; {}", path, descr,
          allowed);
  return static_cast<std::size_t>(descr[2] - '0');
}

/// The header, behind which the data begin. Checks magic, version and length.
detail::NpyHeader read_header(const std::string& name, const ReadBytes& read) {
  constexpr std::size_t most_bytes = 65535;  // all of version 1.0; what needs more describes records
  std::array<std::uint8_t, 12> start{};
  const bool known = read(start.data(), 8) == 8 && std::memcmp(start.data(), magic.data(), magic.size()) == 0;
  require(known, "'{}' is not a .npy file: it does not begin with \\x93NUMPY", name);
  const int major = start[6];
  require(major >= 1 && major <= 3 && start[7] == 0, "'{}' is .npy version {}.{}; allowed: 1.0, 2.0, 3.0", name, major,
          start[7]);
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  require(read(start.data() + 8, length_bytes) == length_bytes, "'{}' ends inside its header", name);
  const std::size_t length = load<std::uint32_t>(start.data() + 8);  // what is not read of it is 0
  require(length <= most_bytes, "'{}' has a header of {} bytes; allowed: up to {}", name, length, most_bytes);
  std::string text(length, '\0');
  const std::size_t got = read(reinterpret_cast<std::uint8_t*>(text.data()), length);
  require(got == length, "'{}' ends inside its header: {} of {} bytes", name, got, length);
  return detail::parse_npy_header(name, text);
}

/// Throws Error unless float32 can hold float64 values up to `most`, which must be zero or a normal number of float32.
/// Smaller values may then become denormal or zero.
void check_range(const std::string& name, double most) {
  using Limits = std::numeric_limits<float>;
  const bool fits = most == 0 || (most >= Limits::min() && most <= Limits::max());
  require(fits,
          "'{}' holds float64 values up to {:.3g}, which do not fit float32; allowed: a largest magnitude of 0 or "
          "{:.3g} to {:.3g}",
          name, most, Limits::min(), Limits::max());
}

/// Reads as many elements of `size` bytes as the shape has. Throws Error unless the data end there.
std::vector<float> read_values(const std::string& name, const ReadBytes& read, const std::vector<index_t>& shape,
                               std::size_t size) {
  const auto count = static_cast<std::size_t>(Layout().add(name, shape).count());
  std::array<std::uint8_t, 1 << 16> buffer;
  std::vector<float> values;
  double most = 0;                                 // finite magnitude among float64 values
  values.reserve(std::min(count, buffer.size()));  // grows with what is there, and not with what the header promises
  while (values.size() < count) {
    const std::size_t wanted = std::min(buffer.size(), (count - values.size()) * size);
    const std::size_t got = read(buffer.data(), wanted);
    require(got == wanted, "'{}' is truncated: {} bytes of data, expected {}", name, values.size() * size + got,
            count * size);
    for (std::size_t i = 0; i < got; i += size) {
      values.push_back(element(buffer.data() + i, size));
      if (size != sizeof(double)) continue;
      const double magnitude = std::fabs(load<double>(buffer.data() + i));
      if (std::isfinite(magnitude)) most = std::max(most, magnitude);
    }
  }
  check_range(name, most);
  require(read(buffer.data(), 1) == 0, "'{}' has more bytes of data than the {} of its shape", name, count * size);
  return values;
}

/// Values in Fortran order (first extent fastest), put in C order.
std::vector<float> transposed(const std::vector<float>& values, const std::vector<index_t>& shape) {
  std::vector<float> result(values.size());
  std::vector<index_t> index(shape.size(), 0);
  std::vector<std::size_t> stride(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * static_cast<std::size_t>(shape[d]);
  std::size_t to = 0;
  for (const float value : values) {
    result[to] = value;
    for (std::size_t d = 0; d < shape.size(); ++d) {  // next index, first extent fastest
      to += stride[d];
      if (++index[d] < shape[d]) break;
      to -= stride[d] * static_cast<std::size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace

NpyArray read_npy(const std::string& name, const ReadBytes& read) {
  detail::NpyHeader header = read_header(name, read);
  NpyArray array{std::move(header.shape), {}};
  array.values = read_values(name, read, array.shape, element_size(name, header.descr));
  if (header.fortran_order && array.shape.size() > 1) array.values = transposed(array.values, array.shape);
  return array;
}

NpyArray parse_npy(const std::string& name, std::span<const std::uint8_t> bytes) {
  return read_npy(name, [&](std::uint8_t* to, std::size_t count) {
    const auto taken = bytes.first(std::min(count, bytes.size()));
    std::copy(taken.begin(), taken.end(), to);
    bytes = bytes.subspan(taken.size());
    return taken.size();
  });
}

NpyArray read_npy(const std::string& path) { return parse_npy(path, read_file(path)); }

NpyArray as_gradient(const std::string& name, NpyArray array) {
  require(!array.values.empty(), "'{}' holds no elements", name);
  const auto bad =
      std::count_if(array.values.begin(), array.values.end(), [](float v) { return !Source::is_finite(v); });
  require(bad == 0, "'{}' holds {} values that are not finite", name, bad);
  return array;
}

void write_npy(const std::string& path, std::span<const float> values, const std::vector<index_t>& shape) {
  std::size_t count = 1;
  for (const index_t extent : shape) count *= static_cast<std::size_t>(extent);
  require(count == values.size(), "cannot write '{}': its shape has {} elements, but there are {} values", path, count,
          values.size());
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{}), }}",
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t start = 10, alignment = 64;  // as NumPy aligns the data
  text.append(alignment - (start + text.size() + 1) % alignment, ' ');
  text += '\n';
  require(text.size() <= 0xFFFF, "cannot write '{}': {} dimensions do not fit into a header of version 1.0", path,
          shape.size());
  std::string head(magic);
  head += {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  write_atomically(path, head + text, {reinterpret_cast<const std::byte*>(values.data()), values.size_bytes()});
}

void write_npy(const std::string& path, std::span<const float> values) {
  write_npy(path, values, {static_cast<index_t>(values.size())});
}

}  // namespace gradcomp::data
