// The hook of forward: it is called for the parameters of each layer, in forward order, before they are used.
#include <gtest/gtest.h>

#include <limits>

#include "gradcomp/data/counter_rng.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "unit/nn/mirrored.hpp"

namespace gradcomp::nn {
namespace needed_test {

using test::Mirrored;

constexpr index_t samples = 2, classes = 5, length = 6;

InputShape input_of(const std::string& name) {
  if (name.starts_with("frames")) return {InputShape::Kind::frames, 0, 0, 0, length, 8, classes};
  if (name.starts_with("lstm") || name.starts_with("transformer")) {
    return {InputShape::Kind::tokens, 0, 0, 0, length, 0, classes};
  }
  return InputShape::of_images(32, 32, classes);
}

class Subject {
 public:
  explicit Subject(const std::string& name) : model(make_model<float>(name, input_of(name), samples)) {
    data::CounterRng rng(7);
    const auto draw = [&](auto& values, index_t count, auto scale) {
      using Value = decltype(scale);
      values = Mirrored<Value>(count);
      for (index_t i = 0; i < count; ++i) values(i) = scale * static_cast<Value>(rng.below(classes));
    };
    const InputShape shape = input_of(name);
    const bool texts = shape.kind == InputShape::Kind::tokens;
    draw(labels, samples * (texts ? length : 1), 1);
    draw(tokens, texts ? samples * length : 0, 1);
    draw(images, texts ? 0 : samples * model->image_size(), 0.2F);
    parameters = Mirrored<float>(model->layout().count());
    buffers = Mirrored<float>(model->buffer_count());
    model->initialise(1, parameters.host(), buffers.host());
  }

  Batch<float> batch() const { return {images, labels, tokens, true, 3}; }

  /// The loss after forward() with the parameters `p`.
  double loss(const Span<const float>& p, const Needed& needed) const {
    const Mirrored<float> moving(model->buffer_count());
    moving.assign(buffers);
    model->forward(Exec(), p, moving, batch(), needed);
    return model->loss(Exec()).sum;
  }

  std::unique_ptr<Model<float>> model;
  Mirrored<float> images, parameters, buffers;
  Mirrored<std::int32_t> labels, tokens;
};

// If parameters are set only when the hook is called for them, the loss is the same as if they were there before.
void expect_told_before_use(const std::string& name) {
  SCOPED_TRACE(name);
  const Subject subject(name);
  const Layout& layout = subject.model->layout();
  std::vector<std::size_t> told;
  const double expected = subject.loss(subject.parameters, [&](std::size_t segment) { told.push_back(segment); });
  ASSERT_GE(told.size(), 2U);
  EXPECT_EQ(told.front(), 0U);
  EXPECT_LT(told.back(), layout.segments.size());
  for (std::size_t i = 1; i < told.size(); ++i) ASSERT_LT(told[i - 1], told[i]) << "segments must come in order";

  const Vector<float> late("late", subject.parameters.size());
  Kokkos::deep_copy(late, std::numeric_limits<float>::quiet_NaN());
  std::size_t calls = 0;
  const double found = subject.loss(late, [&](std::size_t segment) {
    const bool last = ++calls == told.size();
    const index_t begin = layout.segments[segment].offset;
    const index_t end = last ? layout.count() : layout.segments[told[calls]].offset;
    Kokkos::deep_copy(subspan<float>(late, begin, end - begin),
                      subspan<const float>(subject.parameters, begin, end - begin));
  });
  EXPECT_EQ(calls, told.size());
  EXPECT_EQ(found, expected);
}

TEST(Needed, OfImageModels) {
  for (const char* name : {"resnet8", "resnet8_b", "vgg11"}) expect_told_before_use(name);
}

TEST(Needed, OfLanguageAndFrameModels) {
  for (const char* name : {"lstm_1x96", "lstm_2x200", "transformer_2x128", "frames_lstm_1x64", "frames_lstm_2x128"}) {
    expect_told_before_use(name);
  }
}

TEST(Needed, IsToldInItsOwnForwardAlone) {
  for (const char* name : {"resnet8", "lstm_1x96", "transformer_2x128", "frames_lstm_1x64"}) {
    const Subject subject(name);
    int calls = 0;
    const double expected = subject.loss(subject.parameters, [&](std::size_t) { ++calls; });
    const int once = calls;
    EXPECT_EQ(subject.loss(subject.parameters, {}), expected) << "the hook is empty";
    const Mirrored<float> moving(subject.model->buffer_count());
    subject.model->forward(Exec(), subject.parameters, moving, subject.batch());
    subject.model->infer(Exec(), subject.parameters, moving, subject.batch());
    subject.model->loss(Exec());
    EXPECT_EQ(calls, once) << name;
  }
}

}  // namespace needed_test
}  // namespace gradcomp::nn
