#pragma once
// An evaluation: every method on every stream of gradients.
#include <functional>
#include <string>
#include <vector>

#include "gradcomp/evaluate/options.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/report/table.hpp"

namespace gradcomp::evaluate {

struct Findings {
  std::vector<report::Table> tables;  ///< one for each job
  std::vector<std::string> wrong;     ///< answers that failed their check: then no result file may be written
  std::vector<std::string> failures;  ///< of the quality monitor (--density-tolerance), and methods that diverged
};

/// A stream, how many of its gradients are evaluated, and in which loop (Case::loop).
struct Job {
  std::unique_ptr<Stream> stream;
  index_t steps = 1;
  std::string loop;
};

/// Opens everything that the options name, and reads the files and data sets. Throws Error.
std::vector<Job> make_jobs(const Options& options);

/// Gives each gradient to all methods in turn and adds one row per stream and method to `file`. A method that diverges
/// on a stream has no row there, and the others go on. `progress` is called with the name of the stream, the number of
/// steps that its methods have done, and their total.
Findings evaluate(const Exec& exec, const Options& options, const std::vector<Job>& jobs, report::ResultFile& file,
                  const std::function<void(const std::string&, index_t, index_t)>& progress);

}  // namespace gradcomp::evaluate
