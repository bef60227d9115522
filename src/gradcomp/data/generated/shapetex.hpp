#pragma once
// ShapeTex-10: a synthetic image task with CIFAR's shape (32 x 32 x 3, ten classes) and adjustable difficulty. Each
// image shows one of ten shapes (disk, ring, square, frame, triangle, plus, crescent, half-disk, two bars, T). Its
// place, size, colour and small rotation are random, and so is whether it is lighter or darker than the background. A
// gradient and a grating lie behind it, and distracting lines and noise in front of it. Some images have two weak cues,
// a hue and a texture that belong to the class. Without them, training starts with a plateau of 100 to 200 steps, and
// weak compressors learn nothing in a short run. This is our own design, not a published data set.
#include <cstdint>
#include <string>
#include <vector>

#include "gradcomp/core/options.hpp"
#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/split.hpp"

namespace gradcomp::data {

/// The dials. Most of them say which direction is harder.
struct ShapeTexOptions {
  index_t train = 20'000, validation = 0, test = 2'000;  ///< numbers of images; fewer for training is harder;
                                                         ///< validation = 0: as many as test
  index_t seed = 1;                                      ///< of the images; independent of the training seed
  double noise = 0.1;            ///< standard deviation of the pixel noise (pixels 0..1); more is harder
  double rotation = 0.08;        ///< largest |tan(angle / 2)|: 0.08 is 9 degrees, 1 is 90 degrees; more is harder
  double shift = 5;              ///< largest offset of the centre in pixels, per axis; more is harder
  double small = 6, large = 10;  ///< range of the shape's half-width in pixels; smaller is harder
  double contrast = 0.3;         ///< mean difference between shape and background (0..1); less is harder
  double clutter = 1;            ///< scales gradient, gratings and lines; more is harder
  index_t lines = 3;             ///< maximum number of distracting lines; more is harder
  double hue = 0.5;              ///< probability that the colour is the class's; less is harder
  double texture = 0.6;          ///< probability that the grating is the class's; less is harder
  double easy = 0;  ///< share of easy images in every set. They show a large, upright shape in the middle, without
                    ///< noise or lines, always in the class's hue and texture. They are learnt soon, and importance
                    ///< sampling then prefers the others

  /// Names, defaults, ranges and meanings of the dials.
  static std::vector<Parameter> parameters();
  /// Options from "key=value:key=value" (may be empty). Throws Error that lists what is allowed.
  static ShapeTexOptions parse(const std::string& text);
  /// "shapetex10:train=20000:...", as results record the dials (Dial::added).
  std::string canonical() const;
};

constexpr index_t shapetex_side = 32, shapetex_channels = 3, shapetex_classes = 10;

/// The class of image `index`. Classes take turns, so that every set is balanced.
constexpr std::uint8_t shapetex_label(index_t index) { return static_cast<std::uint8_t>(index % shapetex_classes); }

/// Whether an image is easy (ShapeTexOptions::easy): a pure function of the options' seed and easy, the split and the
/// index.
bool is_easy(const ShapeTexOptions& options, Split split, index_t index);

/// Renders one image to `out` (32 x 32 x 3 bytes: row, column, channel). The image is a pure function of the dials, the
/// split and the index, with the same bits for every compiler, flag and number of threads (detail/exact.hpp).
void render_shapetex(const ShapeTexOptions& options, Split split, index_t index, std::uint8_t* out);

/// Generates all sets, in parallel over the images. describe() fills in mean, std and crc.
ImageData make_shapetex(const ShapeTexOptions& options);

}  // namespace gradcomp::data
