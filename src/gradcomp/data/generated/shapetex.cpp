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

const Dials<ShapeTexOptions>& shapetex_dials() {
  static const Dials<ShapeTexOptions> all(
      owner,
      {
          {"train", &ShapeTexOptions::train, 10, 1e8, "training images"},
          {"validation", &ShapeTexOptions::validation, 0, 1e8, "validation images; 0: as many as test"},
          {"test", &ShapeTexOptions::test, 10, 1e8, "test images"},
          {"seed", &ShapeTexOptions::seed, 0, 1e15, "seed of the images"},
          {"noise", &ShapeTexOptions::noise, 0, 1, "standard deviation of the pixel noise"},
          {"rotation", &ShapeTexOptions::rotation, 0, 1, "largest |tan(angle / 2)|; 0.08 is 9 degrees"},
          {"shift", &ShapeTexOptions::shift, 0, 12, "largest offset of the centre, pixels"},
          {"small", &ShapeTexOptions::small, 2, 16, "smallest half-width of a shape, pixels"},
          {"large", &ShapeTexOptions::large, 2, 16, "largest half-width of a shape, pixels"},
          {"contrast", &ShapeTexOptions::contrast, 0.02, 0.5, "mean difference of shape and background"},
          {"clutter", &ShapeTexOptions::clutter, 0, 4, "strength of gradient, gratings and lines"},
          {"lines", &ShapeTexOptions::lines, 0, 16, "largest number of distracting lines"},
          {"hue", &ShapeTexOptions::hue, 0, 1, "probability of the class's hue"},
          {"texture", &ShapeTexOptions::texture, 0, 1, "probability of the class's texture"},
          {"easy", &ShapeTexOptions::easy, 0, 1,
           "share of easy images: large, upright, in the middle, no noise or lines, always the class's cues", true},
      });
  return all;
}

}  // namespace

std::vector<Parameter> ShapeTexOptions::parameters() { return shapetex_dials().parameters(); }

ShapeTexOptions ShapeTexOptions::parse(const std::string& text) {
  const ShapeTexOptions o = shapetex_dials().from(split_pairs(owner, text));
  require(o.small <= o.large, "{}: small={} is above large={}", owner, o.small, o.large);
  return o;
}

std::string ShapeTexOptions::canonical() const { return shapetex_dials().canonical(*this); }

ImageData make_shapetex(const ShapeTexOptions& options) {
  ImageData data;
  data.name = options.canonical();
  data.train = generate(options, Split::train, options.train);
  data.validation = generate(options, Split::validation, options.validation);
  data.test = generate(options, Split::test, options.test);
  return data;
}

}  // namespace gradcomp::data
