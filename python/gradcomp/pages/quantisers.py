"""docs/results/quantisers.md: every quantiser, low-rank method, sketch and hybrid: bits per element, error, bias, contraction,
and time as a multiple of one read of the gradient by one thread."""
import dataclasses
import json

from . import quantisers_tables
from .commands import command
from .page import Job, Page, Text

# Options of methods that have several lines in the tables. Options that a method does not know are left out.
VARIANTS = {
    "qsgd": ({"bits": "2"}, {"bits": "4"}, {"bits": "8"}, {"bits": "4", "norm": "max"}),
    "max_min": ({"bits": "2"}, {"bits": "4"}, {"bits": "8"}),
    "linear_dithering": ({"bits": "4"}, {"bits": "8"}),
    "natural_dithering": ({"bits": "3"}, {"bits": "4"}),
    "terngrad": ({"code": "sum"}, {"code": "2bit"}, {"code": "base3"}),
    "powersgd": ({"rank": "1"}, {"rank": "2"}, {"rank": "4"}),
}
LOW_RANK = ("powersgd:rank=1", "powersgd:rank=4")
HYBRIDS = ("top_k:ratio=0.01+qsgd:bits=4", "top_k:ratio=0.01+ef_sign", "qsgd:bits=4+huffman", "qsgd:bits=8+huffman",
           "top_k:ratio=0.01:index=elias_fano+qsgd:bits=4+huffman")
FAMILIES = ("quantiser", "low rank")
ALSO = ("sketch:ratio=0.001", "fp16", "bf16")
REAL = "resnet20"  # model whose training gives a real gradient
MODELS = ("resnet20", "resnet18", "lstm_3x650")
DESCRIBED = ("fp32", "fp16", "sign", "ef_sign:granularity=tensor", "terngrad:code=2bit", "qsgd:bits=4", "natural",
             "powersgd:rank=1", "powersgd:rank=2", "powersgd:rank=4")


ONE = ("env", "OMP_NUM_THREADS=1")


@dataclasses.dataclass
class Size:
    """The size of the measurement."""

    model: str  # model whose tensors the gradients of the tables on quality have
    trials: int
    large: str  # the same for the table on time
    timings: int
    steps: int  # steps of the training that gives a real gradient


FULL = Size("resnet20", 100, "lstm_3x650", 7, 100)
QUICK = Size("resnet8", 3, "resnet8", 3, 2)


def lines_of(listed):
    """The methods of the tables, as they are typed."""
    names = []
    for method in listed:
        if method["family"] not in FAMILIES:
            continue
        choices = {parameter["name"]: parameter["choices"] for parameter in method["parameters"]}
        known = [options for options in VARIANTS.get(method["name"], ({},))
                 if all(key in choices and (not choices[key] or value in choices[key]) for key, value in options.items())]
        names += [":".join([method["name"], *(f"{key}={value}" for key, value in options.items())])
                  for options in known or [{}]]
    return names


class Quantisers(Page):
    name, tool = "quantisers", "quantisers"
    about = "Measures every quantiser, low-rank method, sketch and hybrid."
    programs = ("gradcomp-methods", "gradcomp-train", "gradcomp-evaluate")

    def names(self, options):
        return ["gradients", "quality", "real", "time", "low_rank", *MODELS]

    def commands(self, options):
        return {}

    def jobs(self, options):
        size = QUICK if options.quick else FULL
        methods = lines_of(json.loads(command("gradcomp-methods", "--list=json"))) + list(ALSO) + list(HYBRIDS)
        folder, last = options.folder / "gradients", size.steps - 1
        gradient = folder / f"fp32_step{last}_gradient.npy"
        evaluate = ("gradcomp-evaluate", "--methods", ",".join(methods), "--data", "laplace")
        quality = ("--trials", size.trials, "--timings", 1)
        batch, data = (8, "shapetex10:train=64:test=16") if options.quick else (64, "shapetex10")
        return [
            Job("gradients", ("gradcomp-train", "--model", REAL, "--data", data, "--steps", size.steps, "--batch", batch,
                              "--methods", "fp32", "--no-controls", "--dump-gradients", folder, "--at", last),
                "a gradient of a training", (gradient,)),
            Job("quality", (*evaluate, "--layout", size.model, *quality), "bits, errors, bias and contraction"),
            Job("real", ("gradcomp-evaluate", "--methods", ",".join(methods), "--input", gradient, "--layout", REAL, *quality),
                "the same of a real gradient"),
            Job("time", (*ONE, *evaluate, "--layout", size.large, "--timings", size.timings), "time of one thread"),
            Job("low_rank", (*ONE, "gradcomp-evaluate", "--methods", ",".join(LOW_RANK), "--data", "laplace", "--layout",
                             "resnet18", "--residual-steps", size.timings),
                "PowerSGD over the tensors of ResNet-18, with error feedback, one thread"),
            *(Job(model, ("gradcomp-methods", "--describe", "--model", model, "--methods", ",".join(DESCRIBED)),
                  f"payload bytes of {model}") for model in MODELS)]

    def text(self, records, options):
        size = QUICK if options.quick else FULL
        names = [row["method"] for row in records["quality"].rows]
        out = Text(self, "quantisers, low rank, sketches, hybrids", records,
                   *quantisers_tables.answer(records["real"], records["time"]))
        out.add("Quality", f"`laplace_{size.model}`: a double exponential in the tensors of {size.model}; `fp32_step...`: a gradient "
                f"of a training of {REAL}, in its tensors. Without feedback, except where a method cannot do without. Bits: payload, "
                "header apart. Bias: mean of "
                f"(decoded . a) / (a . a) - 1 over {size.trials} draws of the method's random numbers; z: that over its standard "
                "error, within about \N{PLUS-MINUS SIGN}3 of an unbiased method, \N{EN DASH} where nothing is random. "
                "Contraction: mean of 1 - |a - decoded|\N{SUPERSCRIPT TWO} / |a|\N{SUPERSCRIPT TWO} of a first step with a residual, "
                "under which unbiased methods send a copy scaled by 1 / (1 + w). `sign` and `signum` lose the scale: theirs are "
                "those of +-1.", quantisers_tables.quality((records["quality"], records["real"]), names))
        out.add("Time, throughput only", "One thread, without feedback where a method can; multiples of one read of the gradient, "
                "taken in turn; what an exchange would do is left out. The last lines: with error feedback. Bits: payload, header "
                "apart. A method that *sends this gradient whole* compressed nothing, so its times are those of a copy (`atomo` "
                "decomposes no matrix of this size). NMSE: square of the relative error. These speeds say nothing of the quality of "
                "a training.",
                quantisers_tables.times([(records["time"], names), (records["low_rank"], LOW_RANK)]))
        out.add("Bytes", "Payload of one rank and step, from the shapes of the models' tensors: `gradcomp-methods --describe`.",
                quantisers_tables.payloads({model: records[model] for model in MODELS}))
        return out.whole()


PAGE = Quantisers()
