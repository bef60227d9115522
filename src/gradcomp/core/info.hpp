#pragma once
// What a method declares about itself. Lists, docs, tests and roofline figures read these declarations.
#include <string>
#include <vector>

#include "gradcomp/core/message.hpp"
#include "gradcomp/core/options.hpp"

namespace gradcomp {

/// How often arrays of the length of the gradient are moved: read, written, or updated (read and written back).
struct Moves {
  double read = 0, written = 0, updated = 0;
};

struct Info {
  enum class Family { control, sparsifier, quantiser, low_rank };
  /// sign: only the sign of each element is sent, and decoded as +-1. The estimate of the mean is the sign of the sum
  /// over ranks (+ if the sum is zero), and there is nothing to remember.
  /// biased: none of the others; ||a - C(a)|| may exceed ||a||.
  enum class Property { exact, unbiased, contraction, rounding, sign, biased };

  std::string name;         ///< registry name, equal to the file's name
  std::string summary;      ///< one line
  std::string former_name;  ///< name in earlier versions (empty: none); a spec with it is an error with the new name
  std::string paper;        ///< authors, venue, year
  Family family = Family::control;
  Property property = Property::contraction;
  bool sends_values = true;  ///< sparsifiers: selected entries are sent exactly; false: as a mean or a quantum
  bool scale_free = true;    ///< C(2^j a) = 2^j C(a); false: the method has a constant in the gradient's own units
  std::vector<MessageKind> rounds;  ///< message kind of each round, one to three
  std::string reducer;              ///< default reducer; the other possible ones follow from this struct
  bool sparse = false;      ///< its bytes messages offer Message::sparse, so that entries can be merged on their way
  bool votes = false;       ///< its payloads are words of signs, in the same order on all ranks: votes can be counted
  bool stripes = false;     ///< a bucket may be cut at granules: its stripes send as much in all as the whole
  bool travels = true;      ///< false: its messages are empty, and every rank keeps its own gradient
  bool in_place = false;    ///< finish() may write to the array that the gradient is in
  bool fixed_bytes = true;  ///< false: the size of messages depends on more of the data than the number of entries
  bool can_resize = false;  ///< Compressor::resize() may be called: it can code the values that another method keeps
  bool host_sizes = false;  ///< produce() and decode_add() may wait for a device, as the host needs sizes of messages
  std::string feedback = "none";                              ///< default feedback
  std::vector<std::string> feedbacks = {"none", "residual"};  ///< kinds that the method can work with
  bool takes(const std::string& feedback_kind) const;         ///< whether `feedbacks` contains this kind
  bool rate_inside = false;            ///< feedback.rate_aware is on by default, and the optimiser's momentum is off
  std::string granularity = "bucket";  ///< default granularity: bucket or tensor
  index_t granule = 1;                 ///< elements that must stay together when a gradient is cut
  double learning_rate_scale = 1;      ///< default lr = the job's lr x this
  std::vector<Parameter> parameters;   ///< of the method itself
  std::string bytes_formula;           ///< payload bytes, headers excluded, as text for the docs
  /// What must move at least, messages not counted: in compress with the default feedback, if what the last step left
  /// (a threshold) still holds; and in decompress, of one message.
  Moves compress = {1, 0, 0}, decompress = {0, 1, 0};
};

std::string to_string(Info::Family family);
std::string to_string(Info::Property property);

}  // namespace gradcomp
