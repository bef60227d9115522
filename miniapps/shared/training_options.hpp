#pragma once
// Options that several programs take; all that say what is trained are those of gradcomp-train and gradcomp-tune.
#include "gradcomp/train/options.hpp"

namespace CLI {
class App;
}

/// Of the option --wide, which programs with a table of results have.
inline constexpr const char* wide_help = "print tables with all columns; otherwise rows take at most 80";

/// The option --methods, for a list of specs.
void add_methods(CLI::App& app, std::string& methods);

/// The options that say what carries messages: --transport, and --ranks-per-node, which is appended to it.
void add_transport(CLI::App& app, std::string& transport);

/// The options that say which tensors a model has: --data, --length, --model, --strategy, --bucket-kib.
void add_model_options(CLI::App& app, gradcomp::train::Options& options);

/// All of them. `options` must live as long as `app`.
void add_training_options(CLI::App& app, gradcomp::train::Options& options);
