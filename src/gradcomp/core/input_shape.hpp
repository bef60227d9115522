#pragma once
// The shape of the samples of a data set, for which a model is made.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

struct InputShape {
  enum class Kind : std::uint8_t { images, tokens, frames };

  Kind kind = Kind::images;
  index_t height = 0, width = 0, channels = 0;  ///< images
  index_t length = 0;                           ///< tokens, frames: steps of a sequence in one batch
  index_t features = 0;                         ///< frames: floats per step
  index_t classes = 0;                          ///< of labels; tokens: the size of the vocabulary

  /// Images with three channels, as the models take them.
  static InputShape of_images(index_t height, index_t width, index_t classes) {
    return {Kind::images, height, width, 3, 0, 0, classes};
  }

  /// "images", "tokens" or "frames".
  const char* kind_name() const { return kind == Kind::images ? "images" : kind == Kind::tokens ? "tokens" : "frames"; }
};

}  // namespace gradcomp
