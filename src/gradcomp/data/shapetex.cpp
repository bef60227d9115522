#include "gradcomp/data/shapetex.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/spec.hpp"

namespace gradcomp::data {
namespace {

constexpr const char* owner = "shapetex10";

ImageSet generate(const ShapeTexOptions& options, Split split, index_t count) {
  ImageSet set{shapetex_side, shapetex_side, shapetex_channels, shapetex_classes, {}, {}};
  set.labels.resize(static_cast<std::size_t>(count));
  set.pixels.resize(static_cast<std::size_t>(count * set.image_size()));
  for (index_t i = 0; i < count; ++i) set.labels[static_cast<std::size_t>(i)] = shapetex_label(i);
  std::uint8_t* const pixels = set.pixels.data();
  const index_t size = set.image_size();
  const HostExec exec;
  Kokkos::parallel_for(
      "gradcomp::data::make_shapetex", Kokkos::RangePolicy<HostExec>(exec, 0, count),
      [&options, split, pixels, size](const index_t i) { render_shapetex(options, split, i, pixels + i * size); });
  exec.fence("gradcomp::data::make_shapetex");
  return set;
}

}  // namespace

std::vector<Parameter> ShapeTexOptions::parameters() {
  const ShapeTexOptions d;
  const auto real = [](const char* name, double value, double low, double high, const char* help) {
    return Parameter::real(name, fmt::format("{}", value), low, high, help);
  };
  const auto integer = [](const char* name, index_t value, double low, double high, const char* help) {
    return Parameter::integer(name, fmt::format("{}", value), low, high, help);
  };
  return {
      integer("train", d.train, 10, 1e8, "training images"),
      integer("test", d.test, 10, 1e8, "test images"),
      integer("seed", d.seed, 0, 1e15, "seed of the images"),
      real("noise", d.noise, 0, 1, "standard deviation of the pixel noise"),
      real("rotation", d.rotation, 0, 1, "largest |tan(angle / 2)|; 0.08 is 9 degrees"),
      real("shift", d.shift, 0, 12, "largest offset of the centre, pixels"),
      real("small", d.small, 2, 16, "smallest half-width of a shape, pixels"),
      real("large", d.large, 2, 16, "largest half-width of a shape, pixels"),
      real("contrast", d.contrast, 0.02, 0.5, "mean difference of shape and background"),
      real("clutter", d.clutter, 0, 4, "strength of gradient, gratings and lines"),
      integer("lines", d.lines, 0, 16, "most distracting lines"),
      real("hue", d.hue, 0, 1, "probability of the class's hue"),
      real("texture", d.texture, 0, 1, "probability of the class's texture"),
  };
}

ShapeTexOptions ShapeTexOptions::parse(const std::string& text) {
  const Options given(owner, parameters(), split_pairs(owner, text));
  ShapeTexOptions o;
  o.train = given.integer("train");
  o.test = given.integer("test");
  o.seed = given.integer("seed");
  o.noise = given.real("noise");
  o.rotation = given.real("rotation");
  o.shift = given.real("shift");
  o.small = given.real("small");
  o.large = given.real("large");
  o.contrast = given.real("contrast");
  o.clutter = given.real("clutter");
  o.lines = given.integer("lines");
  o.hue = given.real("hue");
  o.texture = given.real("texture");
  require(o.small <= o.large, "{}: small={} is above large={}", owner, o.small, o.large);
  return o;
}

std::string ShapeTexOptions::canonical() const {
  return fmt::format(
      "{}:train={}:test={}:seed={}:noise={}:rotation={}:shift={}:small={}:large={}:contrast={}:clutter={}:lines={}:"
      "hue={}:texture={}",
      owner, train, test, seed, noise, rotation, shift, small, large, contrast, clutter, lines, hue, texture);
}

ImageData make_shapetex(const ShapeTexOptions& options) {
  ImageData data;
  data.name = options.canonical();
  data.train = generate(options, Split::train, options.train);
  data.test = generate(options, Split::test, options.test);
  return data;
}

}  // namespace gradcomp::data
