// Writes what lstm_numpy.py and transformer_numpy.py need in order to recompute two training steps of a language model:
//   language_dump FOLDER float|double lstm LAYERS UNITS EMBEDDING TIED VOCABULARY LENGTH SEQUENCES
//   language_dump FOLDER float|double transformer BLOCKS UNITS HEADS TIED VOCABULARY LENGTH SEQUENCES
// Files are the raw native arrays parameters, state, tokens and labels (int32, both batches), gradient (of the second
// batch) and new_state, and layout.txt with one line "name offset extents..." per tensor. Prints the mean loss of the
// first batch, of the second batch, and of an evaluation of the second batch from a new state.
#include <cstdlib>
#include <iostream>
#include <memory>

#include "dump.hpp"
#include "gradcomp/nn/networks/lstm_language_model.hpp"
#include "gradcomp/nn/networks/transformer_language_model.hpp"

namespace gradcomp::nn {
namespace {

template <class T>
std::unique_ptr<Model<T>> build(const std::string& kind, int layers, int units, int third, bool tied, int vocabulary,
                                int length, int sequences) {
  const int room = sequences + 2;
  if (kind == "lstm") {
    const LstmNetwork network{"lstm", layers, units, third, tied, 0};
    return std::make_unique<LstmLanguageModel<T>>(network, vocabulary, length, room, Path::best);
  }
  const TransformerNetwork network{"transformer", layers, units, third, tied, 0};
  return std::make_unique<TransformerLanguageModel<T>>(network, vocabulary, length, room, Path::best);
}

template <class T>
void dump(const std::string& folder, const std::unique_ptr<Model<T>>& model, int length, int sequences) {
  const Exec exec;
  const int vocabulary = model->classes();
  const Vector<T> parameters("parameters", model->layout().count()), gradient("gradient", model->layout().count());
  const Vector<T> buffers("buffers", model->buffer_count());
  const index_t count = index_t(sequences) * length;
  const Vector<std::int32_t> tokens("tokens", 2 * count), labels("labels", 2 * count);
  {
    const auto host = Kokkos::create_mirror_view(parameters);
    const auto host_buffers = Kokkos::create_mirror_view(buffers);
    model->initialise(3, HostSpan<T>(host.data(), host.extent(0)),
                      HostSpan<T>(host_buffers.data(), host_buffers.extent(0)));
    Kokkos::deep_copy(parameters, host);
    Kokkos::deep_copy(buffers, host_buffers);
    const auto host_tokens = Kokkos::create_mirror_view(tokens), host_labels = Kokkos::create_mirror_view(labels);
    for (index_t i = 0; i < 2 * count; ++i) {
      host_tokens(i) = static_cast<std::int32_t>(uniform(4, 1, i) * 0.999 * vocabulary);
      host_labels(i) = static_cast<std::int32_t>(uniform(4, 2, i) * 0.999 * vocabulary);
    }
    Kokkos::deep_copy(tokens, host_tokens);
    Kokkos::deep_copy(labels, host_labels);
  }
  perturb(parameters, 100, 0.05);
  perturb(buffers, 101, 0.5);
  write(folder + "/parameters", parameters);
  write(folder + "/state", buffers);
  write(folder + "/tokens", tokens);
  write(folder + "/labels", labels);

  const auto batch = [&](int number, bool restart) {
    const Span<const std::int32_t> of_labels(labels.data() + number * count, static_cast<std::size_t>(count));
    const Span<const std::int32_t> of_tokens(tokens.data() + number * count, static_cast<std::size_t>(count));
    return Batch<T>{{}, of_labels, of_tokens, restart};
  };
  const Loss first = model->train_step(exec, parameters, buffers, batch(0, false), gradient);
  const Loss second = model->train_step(exec, parameters, buffers, batch(1, false), gradient);
  write(folder + "/gradient", gradient);
  write(folder + "/new_state", buffers);
  const Loss evaluated = model->evaluate(exec, parameters, buffers, batch(1, true));
  write_layout(folder, model->layout());
  std::cout << fmt::format("{:.17g} {:.17g} {:.17g}\n", first.mean(), second.mean(), evaluated.mean());
}

}  // namespace
}  // namespace gradcomp::nn

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  if (argc != 11) {
    std::cerr
        << "usage: language_dump FOLDER float|double lstm LAYERS UNITS EMBEDDING TIED VOCABULARY LENGTH SEQUENCES\n"
           "       language_dump FOLDER float|double transformer BLOCKS UNITS HEADS TIED VOCABULARY LENGTH "
           "SEQUENCES\n";
    return 2;
  }
  const auto number = [&](int i) { return std::atoi(argv[i]); };
  const auto run = [&]<class T>(T) {
    const auto model = gradcomp::nn::build<T>(argv[3], number(4), number(5), number(6), number(7) != 0, number(8),
                                              number(9), number(10));
    gradcomp::nn::dump<T>(argv[1], model, number(9), number(10));
  };
  if (std::string(argv[2]) == "double") {
    run(double());
  } else {
    run(float());
  }
  return 0;
}
