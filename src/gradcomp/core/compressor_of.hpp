#pragma once
// The contract of core/compressor.hpp for a method whose prepare() makes an `Own`: do_produce() is produce() with the
// State as an Own&, and so on. The names differ, because an override of one overload would hide the other.
#include "gradcomp/core/compressor.hpp"

namespace gradcomp {

template <class Own>
class CompressorOf : public Compressor {
 public:
  using Compressor::Compressor;

  void produce(const Exec& exec, int round, const Source& source, State& state, const Context& context,
               Message& message) const final {
    state.context = context;
    do_produce(exec, round, source, static_cast<Own&>(state), context, message);
  }
  void consume(const Exec& exec, int round, const Message& message, State& state, const Context& context) const final {
    do_consume(exec, round, message, static_cast<Own&>(state), context);
  }
  void finish(const Exec& exec, const Source& source, State& state, const Context& context, const Span<float>& out,
              Verdict& verdict) const final {
    do_finish(exec, source, static_cast<Own&>(state), context, out, verdict);
  }
  void decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                  const Span<float>& out, Verdict& verdict) const final {
    do_decode_add(exec, payload, weight, static_cast<Own&>(state), out, verdict);
  }
  void give_back(const Exec& exec, const Source& source, State& state, const Message& message,
                 const Span<const float>& out) const final {
    do_give_back(exec, source, static_cast<Own&>(state), message, out);
  }

 protected:
  virtual void do_produce(const Exec& exec, int round, const Source& source, Own& state, const Context& context,
                          Message& message) const = 0;
  virtual void do_consume(const Exec&, int /*round*/, const Message&, Own&, const Context&) const {}
  virtual void do_finish(const Exec& exec, const Source& source, Own& state, const Context& context,
                         const Span<float>& out, Verdict& verdict) const {
    Compressor::finish(exec, source, state, context, out, verdict);
  }
  virtual void do_decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, Own& state,
                             const Span<float>& out, Verdict& verdict) const {
    Compressor::decode_add(exec, payload, weight, state, out, verdict);
  }
  virtual void do_give_back(const Exec& exec, const Source& source, Own& state, const Message& message,
                            const Span<const float>& out) const {
    Compressor::give_back(exec, source, state, message, out);
  }
};

}  // namespace gradcomp
