#pragma once
// ShapeTex-10: a synthetic image task at CIFAR's shape (32 x 32 x 3, ten classes) whose difficulty can be dialled. Each
// image shows one of ten shapes (disk, ring, square, frame, triangle, plus, crescent, half-disk, two bars, T) at a
// random place, size, small rotation, colour and polarity, over a gradient and a grating, under distracting lines and
// noise. Two weak cues, a hue and a texture that belong to the class, are present in part of the images: they are what
// keeps training off a plateau of 100 to 200 steps (without them weak compressors learn nothing in a short run).
// Source: our own; no published data set.
#include <cstdint>
#include <string>
#include <vector>

#include "gradcomp/core/options.hpp"
#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/split.hpp"

namespace gradcomp::data {

/// The dials. Each one says which way is harder.
struct ShapeTexOptions {
  index_t train = 20'000, validation = 0, test = 2'000;  ///< images; fewer training ones generalise less
                                                         ///< (validation: 0 stands for as many as test)
  index_t seed = 1;                                      ///< of the images; independent of the training seed
  double noise = 0.1;            ///< standard deviation of the pixel noise (pixels 0..1); more is harder
  double rotation = 0.08;        ///< largest |tan(angle / 2)|: 0.08 is 9 degrees, 1 is 90; more is harder
  double shift = 5;              ///< largest offset of the centre in pixels, per axis; more is harder
  double small = 6, large = 10;  ///< range of the shape's half-width in pixels; smaller is harder
  double contrast = 0.3;         ///< mean difference of shape and background (0..1); less is harder
  double clutter = 1;            ///< scales gradient, gratings and lines; more is harder
  index_t lines = 3;             ///< most distracting lines; more is harder
  double hue = 0.5;              ///< probability that the colour is the class's; less is harder
  double texture = 0.6;          ///< probability that the grating is the class's; less is harder
  double easy = 0;  ///< share of images of every set that are easy: a large shape in the middle, upright, without noise
                    ///< or lines, always in the class's hue and texture. What importance sampling is for: most samples
                    ///< are soon learnt

  /// Names, defaults, ranges and meaning of the dials.
  static std::vector<Parameter> parameters();
  /// From "key=value:key=value" (may be empty). Throws Error listing what is allowed.
  static ShapeTexOptions parse(const std::string& text);
  /// "shapetex10:train=20000:...": all dials, as results record them.
  std::string canonical() const;
};

constexpr index_t shapetex_side = 32, shapetex_channels = 3, shapetex_classes = 10;

/// The class of image `index`: classes take turns, so that every set is balanced.
constexpr std::uint8_t shapetex_label(index_t index) { return static_cast<std::uint8_t>(index % shapetex_classes); }

/// Whether the image is one of the share ShapeTexOptions::easy: a pure function of seed, split and index.
bool is_easy(const ShapeTexOptions& options, Split split, index_t index);

/// Renders one image (32 x 32 x 3 bytes, HWC): a pure function of the dials, the split and the index, with the same
/// bits for every compiler, flag and thread count (shapetex_render.cpp says how). About 30 us.
void render_shapetex(const ShapeTexOptions& options, Split split, index_t index, std::uint8_t* out);

/// All sets, generated in parallel over the images. Mean, std and crc are left to describe().
ImageData make_shapetex(const ShapeTexOptions& options);

}  // namespace gradcomp::data
