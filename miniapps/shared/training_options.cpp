#include "training_options.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "former_options.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/number.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/nn/make_model.hpp"

using namespace gradcomp;

namespace {

index_t parse_kib(const std::string& text) {
  if (text == "auto") return 0;
  const auto value = to_number<index_t>(text);
  require(value && *value >= 1, "--bucket-kib {} is not allowed; it must be auto or at least 1", text);
  return *value;
}

}  // namespace

void add_methods(CLI::App& app, std::string& methods) {
  app.add_option(
      "--methods", methods,
      "method specs, separated by commas: name:key=value:...[+CODER][+huffman]; gradcomp-methods lists them");
}

void add_transport(CLI::App& app, std::string& transport) {
  app.add_option("--transport", transport,
                 "transport that carries the messages: name:key=value; see gradcomp-methods --list=transports");
  const auto ranks_per_node = std::make_shared<int>(0);
  app.add_option("--ranks-per-node", *ranks_per_node,
                 "number of consecutive ranks that form an emulated node (for reducer=hierarchical); short for "
                 "--transport mpi:ranks_per_node=N; 0: the nodes of the machine")
      ->check(CLI::Range(0, 1 << 20));
  app.callback([&transport, ranks_per_node] {
    if (*ranks_per_node > 0) transport += fmt::format(":ranks_per_node={}", *ranks_per_node);
  });
}

void add_model_options(CLI::App& app, train::Options& o) {
  app.add_option("--data", o.data, data::dataset_specs());
  app.add_option("--length", o.length,
                 "number of steps of a sequence in one batch (texts, frames); 0: the default of the data set");
  app.add_option("--model", o.model, fmt::format("{}", fmt::join(nn::model_names(), ", ")));
  app.add_option("--strategy", o.strategy,
                 "when replicas exchange: name:key=value; see gradcomp-methods --list=strategies");
  app.add_option_function<std::string>(
         "--bucket-kib", [&o](const std::string& text) { o.bucket_kib = parse_kib(text); },
         "size of a bucket in KiB of gradient; auto: sizes that follow from the model")
      ->default_str("auto");
}

void add_training_options(CLI::App& app, train::Options& o) {
  add_model_options(app, o);
  add_methods(app, o.methods);
  app.add_flag("!--no-controls", o.controls, "do not add the controls fp32, fp16, bf16 and no_exchange");
  app.add_option("--steps", o.steps, "number of training steps of each method");
  app.add_option("--batch", o.batch, "number of samples per rank and step");
  app.add_option("--lr", o.learning_rate, "learning rate; a method's own lr=... takes precedence");
  app.add_option("--optimiser", o.optimiser, "sgd or adamw")->check(CLI::IsMember({"sgd", "adamw"}));
  app.add_option("--momentum", o.momentum, "momentum of sgd");
  app.add_flag("--nesterov{on}", o.nesterov,
               "sgd makes the step g + momentum v, where v = momentum v + g, instead of the step v; "
               "--nesterov=powersgd: the step g + v, as PowerSGD's authors use it")
      ->check(CLI::IsMember({"off", "on", "powersgd"}));
  app.add_option("--beta1", o.beta1, "adamw: weight of the old value in the running mean of gradients");
  app.add_option("--beta2", o.beta2, "adamw: weight of the old value in the running mean of squared gradients");
  app.add_option("--epsilon", o.epsilon, "adamw: constant added to the denominator");
  app.add_option("--weight-decay", o.weight_decay, "weight decay of matrices and filters");
  app.add_option("--decay", o.decay, "learning-rate schedule")->check(CLI::IsMember({"cosine", "constant"}));
  app.add_option("--warmup", o.warmup, "steps of linear warm-up of the learning rate");
  app.add_option("--clip", o.clip,
                 "largest L2 norm of the mean gradient; a longer gradient is scaled down to this norm; 0: no clipping");
  app.add_flag("--augment", o.augment, "train on random crops and mirror images");
  app.add_option("--skew", o.skew,
                 "label skew: concentration of the Dirichlet distribution that gives the share of each rank in a "
                 "class; smaller is more skewed; 0: even shares");
  app.add_option("--sampler", o.sampler,
                 "how batches are drawn, uniformly or by importance: name:key=value; see gradcomp-methods "
                 "--list=samplers");
  app.add_option("--accumulate", o.accumulate,
                 "add the control fp32:accumulate=N, which sums the gradients of N batches and exchanges in every N-th "
                 "step; 1: do not add it");
  add_transport(app, o.transport);
  app.add_option(
      "--timeout", o.timeout,
      "seconds that a rank waits for the others, in exchanges and between steps, before the job ends with an "
      "error; 0: for ever");
  renamed_option(app, "--time-limit", "--timeout");
  app.add_option("--link", o.link,
                 "emulate a link, for example 100Mbit/s,50us; several rates, for example 100Mbit/s,1Gbit/s,50us, take "
                 "turns, each for a block of steps, and show below which rate a method pays; default: the real link");
  app.add_option(
      "--straggler", o.straggler,
      "make ranks slow: rank=1,factor=2 doubles the computation time of rank 1; jitter=0.3 lengthens that of every "
      "rank by a random share in every step; both can be combined");
}
