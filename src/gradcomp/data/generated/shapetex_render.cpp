// Renders one image of ShapeTex-10. Arithmetic follows detail/exact.hpp, so that every compiler and flag gives the same
// bits.
#include <algorithm>
#include <array>

#include "gradcomp/data/counter_rng.hpp"
#include "gradcomp/data/detail/exact.hpp"
#include "gradcomp/data/detail/shapes.hpp"
#include "gradcomp/data/generated/shapetex.hpp"

namespace gradcomp::data {
namespace {

using detail::mul;
using detail::rounded;
using Colour = std::array<float, 3>;

/// Uniform in [low, high).
float uniform(CounterRng& rng, double low, double high) { return rounded(low + mul(rounded(high - low), rng.unit())); }

float sign(CounterRng& rng) { return (rng.next() >> 63) != 0 ? 1.0F : -1.0F; }

/// Cosine c and sine s of the angle with t = tan(angle / 2). They are rational in t: the bits of trigonometric
/// functions would differ between libraries.
struct Direction {
  float c, s;
  explicit Direction(float t)
      : c(rounded((1.0 - mul(t, t)) / (1.0 + mul(t, t)))),
        s(rounded(2.0 * static_cast<double>(t) / (1.0 + mul(t, t)))) {}
};

/// Saturated colour of hue h (period 1) without its grey part. Components are in [-0.5, 0.5].
Colour hue_colour(double h) {
  Colour colour{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double wave = detail::wave(h + 1.0 + static_cast<double>(k) / 3.0);
    colour[k] = rounded(std::clamp(0.75 * wave, -0.5, 0.5));  // no sum follows that could be fused
  }
  return colour;
}

/// Stripes: amplitude x wave(kx x + ky y + phase).
struct Grating {
  float amplitude = 0, kx = 0, ky = 0, phase = 0;

  Grating() = default;
  /// `turn`: tan(angle / 2) of the direction across the stripes; [-1, 1] covers all orientations.
  Grating(float strength, float turn, float period, float offset) : amplitude(strength), phase(offset) {
    const Direction across(turn);
    kx = across.c / period;
    ky = across.s / period;
  }
  double at(float x, float y) const {
    // Adding 64 keeps the argument positive, because |kx x + ky y| < 32 if periods are at least 2 pixels.
    return mul(amplitude, rounded(detail::wave(mul(kx, x) + mul(ky, y) + static_cast<double>(phase) + 64.0)));
  }
};

/// A straight line |nx x + ny y - offset| < width that adds `level` to all channels.
struct Line {
  float nx = 0, ny = 0, offset = 0, width = 0, level = 0;
};

/// Everything that is random in one image, except its pixel noise.
struct Scene {
  std::uint8_t label = 0;
  float x = 0, y = 0, radius = 1;
  Direction turn{0.0F};
  float slope_x = 0, slope_y = 0;
  Grating stripes, texture;
  Colour background{}, foreground{};
  std::array<Line, 16> lines{};
  std::size_t line_count = 0;
};

/// Stripes on the shape. They have the class's orientation and period with probability `texture`, otherwise random
/// ones.
Grating draw_texture(const ShapeTexOptions& o, std::uint8_t label, CounterRng& rng) {
  const bool own = rng.unit() < rounded(o.texture);
  const float turn = uniform(rng, -1, 1);
  const float period = uniform(rng, 2.5, 6);
  const float phase = rng.unit();
  const float own_turn = static_cast<float>(static_cast<int>(label % 5) * 2 - 4) / 5.0F;
  const float own_period = label < 5 ? 3.0F : 5.0F;
  return {0.08F * rounded(o.clutter), own ? own_turn : turn, own ? own_period : period, phase};
}

/// Colours of background and shape. The background has a grey level, the shape is lighter or darker, and each has a
/// tint. The shape's tint is that of the class with probability `hue`.
void draw_colours(const ShapeTexOptions& o, CounterRng& rng, Scene& scene) {
  const float level = uniform(rng, 0.35, 0.65);
  const float strength = uniform(rng, 0.6, 1.4);
  const float step = strength * rounded(o.contrast) * sign(rng);
  const Colour ground = hue_colour(static_cast<double>(rng.unit()));
  const bool own = rng.unit() < rounded(o.hue);
  const float jitter = uniform(rng, -0.05, 0.05);
  const float other = rng.unit();
  const double class_hue = static_cast<double>(scene.label) / 10.0 + static_cast<double>(jitter);
  const Colour figure = hue_colour(own ? class_hue : static_cast<double>(other));
  for (std::size_t k = 0; k < 3; ++k) {
    scene.background[k] = rounded(static_cast<double>(level) + mul(0.25F, ground[k]));
    scene.foreground[k] = rounded(static_cast<double>(level) + static_cast<double>(step) + mul(0.25F, figure[k]));
  }
}

/// Each statement makes one draw, because C++ does not specify the order in which arguments and operands are evaluated.
Scene draw_scene(const ShapeTexOptions& o, std::uint8_t label, CounterRng& rng) {
  const float clutter = rounded(o.clutter);
  Scene scene;
  scene.label = label;
  scene.x = uniform(rng, -o.shift, o.shift);
  scene.y = uniform(rng, -o.shift, o.shift);
  scene.radius = uniform(rng, o.small, o.large);
  scene.turn = Direction(uniform(rng, -o.rotation, o.rotation));
  scene.slope_x = uniform(rng, -0.01, 0.01) * clutter;
  scene.slope_y = uniform(rng, -0.01, 0.01) * clutter;
  const float amplitude = uniform(rng, 0.02, 0.08) * clutter;
  const float turn = uniform(rng, -1, 1);
  const float period = uniform(rng, 4, 10);
  scene.stripes = Grating(amplitude, turn, period, rng.unit());
  scene.texture = draw_texture(o, label, rng);
  draw_colours(o, rng, scene);
  scene.line_count = rng.below(static_cast<std::uint64_t>(o.lines) + 1);
  for (std::size_t i = 0; i < scene.line_count; ++i) {
    Line& line = scene.lines[i];
    const Direction normal(uniform(rng, -1, 1));
    line.nx = normal.c;
    line.ny = normal.s;
    line.offset = uniform(rng, -16, 16);
    line.width = uniform(rng, 0.5, 1.0);
    const float strength = uniform(rng, 0.1, 0.3);
    line.level = strength * sign(rng) * clutter;
  }
  return scene;
}

/// Colour before noise at (x, y), in pixels from the centre of the image.
std::array<double, 3> colour_at(const Scene& s, float x, float y) {
  const float dx = x - s.x, dy = y - s.y;
  const double u = (mul(s.turn.c, dx) + mul(s.turn.s, dy)) / static_cast<double>(s.radius);
  const double v = (mul(s.turn.c, dy) - mul(s.turn.s, dx)) / static_cast<double>(s.radius);
  const double distance = mul(rounded(detail::shape_distance(s.label, u, v)), s.radius);
  const float cover = rounded(std::clamp(0.5 - distance, 0.0, 1.0));  // smooths the edge over one pixel
  const double ground = mul(s.slope_x, x) + mul(s.slope_y, y) + s.stripes.at(x, y);
  const double figure = s.texture.at(dx, dy);
  double lines = 0;
  for (std::size_t i = 0; i < s.line_count; ++i) {
    const Line& line = s.lines[i];
    const double off = mul(line.nx, x) + mul(line.ny, y) - static_cast<double>(line.offset);
    if (std::fabs(off) < static_cast<double>(line.width)) lines += static_cast<double>(line.level);
  }
  std::array<double, 3> colour{};
  for (std::size_t k = 0; k < 3; ++k) {
    const float outside = rounded(static_cast<double>(s.background[k]) + ground);
    const float inside = rounded(static_cast<double>(s.foreground[k]) + figure);
    colour[k] = mul(cover, inside) + mul(1.0F - cover, outside) + lines;
  }
  return colour;
}

/// Nearly normal with mean 0 and variance 1: the sum of four uniform 16-bit numbers in units of 2^-16, centred, times
/// sqrt(3).
float bell(std::uint64_t word) {
  const auto sum = (word & 0xFFFFU) + (word >> 16 & 0xFFFFU) + (word >> 32 & 0xFFFFU) + (word >> 48);
  return static_cast<float>(static_cast<std::int64_t>(sum) - 131070) * (1.7320508F / 65536.0F);
}

/// The dials of an easy image.
ShapeTexOptions eased(ShapeTexOptions options) {
  options.noise = options.rotation = options.shift = 0;
  options.small = options.large;
  options.lines = 0;
  options.hue = options.texture = 1;
  return options;
}

/// Separates the draws that choose the easy images from those that render an image.
constexpr std::uint64_t easy_stream = 0x4541ULL << 48U;

}  // namespace

bool is_easy(const ShapeTexOptions& options, Split split, index_t index) {
  CounterRng rng(static_cast<std::uint64_t>(options.seed) ^ easy_stream, static_cast<std::uint64_t>(split),
                 static_cast<std::uint64_t>(index));
  return rng.unit() < rounded(options.easy);
}

void render_shapetex(const ShapeTexOptions& given, Split split, index_t index, std::uint8_t* out) {
  const ShapeTexOptions options = is_easy(given, split, index) ? eased(given) : given;
  CounterRng rng(static_cast<std::uint64_t>(options.seed), static_cast<std::uint64_t>(split),
                 static_cast<std::uint64_t>(index));
  const Scene scene = draw_scene(options, shapetex_label(index), rng);
  const float noise = rounded(options.noise);
  constexpr float centre = 15.5F;
  for (index_t row = 0; row < shapetex_side; ++row) {
    for (index_t column = 0; column < shapetex_side; ++column) {
      const auto colour = colour_at(scene, static_cast<float>(column) - centre, static_cast<float>(row) - centre);
      for (const double clean : colour) {
        const float value = rounded(std::clamp(clean + mul(noise, bell(rng.next())), 0.0, 1.0));
        *out++ = static_cast<std::uint8_t>(mul(255.0F, value) + 0.5);
      }
    }
  }
}

}  // namespace gradcomp::data
