#include "gradcomp/data/generated/shapetex.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/dials.hpp"
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
  return {
      integer_dial("train", d.train, 10, 1e8, "training images"),
      integer_dial("validation", d.validation, 0, 1e8, "validation images; 0: as many as test"),
      integer_dial("test", d.test, 10, 1e8, "test images"),
      integer_dial("seed", d.seed, 0, 1e15, "seed of the images"),
      real_dial("noise", d.noise, 0, 1, "standard deviation of the pixel noise"),
      real_dial("rotation", d.rotation, 0, 1, "largest |tan(angle / 2)|; 0.08 is 9 degrees"),
      real_dial("shift", d.shift, 0, 12, "largest offset of the centre, pixels"),
      real_dial("small", d.small, 2, 16, "smallest half-width of a shape, pixels"),
      real_dial("large", d.large, 2, 16, "largest half-width of a shape, pixels"),
      real_dial("contrast", d.contrast, 0.02, 0.5, "mean difference of shape and background"),
      real_dial("clutter", d.clutter, 0, 4, "strength of gradient, gratings and lines"),
      integer_dial("lines", d.lines, 0, 16, "largest number of distracting lines"),
      real_dial("hue", d.hue, 0, 1, "probability of the class's hue"),
      real_dial("texture", d.texture, 0, 1, "probability of the class's texture"),
      real_dial("easy", d.easy, 0, 1,
                "share of easy images: large, upright, in the middle, no noise or lines, always the class's cues"),
  };
}

ShapeTexOptions ShapeTexOptions::parse(const std::string& text) {
  const ParameterValues given(owner, parameters(), split_pairs(owner, text));
  ShapeTexOptions o;
  o.train = given.integer("train");
  o.test = given.integer("test");
  o.validation = given.integer("validation") > 0 ? given.integer("validation") : o.test;
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
  o.easy = given.real("easy");
  require(o.small <= o.large, "{}: small={} is above large={}", owner, o.small, o.large);
  return o;
}

std::string ShapeTexOptions::canonical() const {
  return fmt::format(
      "{}:train={}:validation={}:test={}:seed={}:noise={}:rotation={}:shift={}:small={}:large={}:contrast={}:clutter={}"
      ":lines={}:"
      "hue={}:texture={}{}",
      owner, train, validation, test, seed, noise, rotation, shift, small, large, contrast, clutter, lines, hue,
      texture, easy > 0 ? fmt::format(":easy={}", easy) : "");  // younger than records
}

ImageData make_shapetex(const ShapeTexOptions& options) {
  ImageData data;
  data.name = options.canonical();
  data.train = generate(options, Split::train, options.train);
  data.validation = generate(options, Split::validation, options.validation);
  data.test = generate(options, Split::test, options.test);
  return data;
}

}  // namespace gradcomp::data
