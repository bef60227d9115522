"""The keys of an experiment: each with its allowed values and the option of the program that it becomes."""
import dataclasses
import re
from collections.abc import Callable

from . import ROOT

TRAIN, TUNE, ALLREDUCE = "gradcomp-train", "gradcomp-tune", "gradcomp-allreduce"
CONTROLS = ("fp32", "fp16", "bf16", "no_exchange")
SPEC = r"[a-z0-9_]+(:[a-z0-9_]+=[^:,]+)*"  # a name with its options; the program knows which names there are
LINE = r"[^\s\0]([^\n\0]*[^\s\0])?"  # with spaces inside, as names of files may have


def method_names():
    """The names of all methods, from the page that the code generates."""
    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"^\| \[`([a-z0-9_]+)", page, re.MULTILINE)))


@dataclasses.dataclass(frozen=True)
class Key:
    """One key. `option` is None if the key controls the launch and not the program."""

    allowed: str
    accepts: Callable
    option: str | None = None
    programs: tuple = (TRAIN, ALLREDUCE)


def _whole(least, option=None, programs=(TRAIN,)):
    return Key(f"a whole number from {least}", lambda v: type(v) is int and v >= least, option, programs)


def _real(option):
    return Key("a number from 0", lambda v: type(v) in (int, float) and v >= 0, option, (TRAIN,))


def _choice(names, option=None, programs=(TRAIN,)):
    return Key(f"one of {', '.join(names)}", lambda v: v in names, option, programs)


def _flag(option, programs=(TRAIN,)):
    return Key("true or false", lambda v: type(v) is bool, option, programs)


def _text(allowed, pattern, option, programs=(TRAIN, ALLREDUCE)):
    return Key(allowed, lambda v: isinstance(v, str) and re.fullmatch(pattern, v) is not None, option, programs)


def _known_methods(value):
    if not isinstance(value, str) or not value:
        return False
    known = set(method_names())
    return all(re.findall(r"^[a-z0-9_]*", spec)[0] in known for spec in value.split(","))


KEYS = {
    "program": _choice((TRAIN, ALLREDUCE), programs=(TRAIN, ALLREDUCE)),
    "nodes": _whole(1, programs=(TRAIN, ALLREDUCE)),
    "ranks_per_node": _whole(1, programs=(TRAIN, ALLREDUCE)),
    "global_batch": _whole(1),  # batch over all ranks; becomes `batch`
    "checkpoint_every": _whole(0),
    "methods": Key("method specs with commas between them; methods: " + ", ".join(method_names()), _known_methods,
                   "--methods"),
    "link": _text("'real' or RATE,LATENCY such as 100Mbit/s,50us", r"real|[0-9.]+[kMG]?bit/s(,[0-9.]+[mu]s)?", "--link"),
    "transport": _text("a transport of gradcomp-methods --list=transports", SPEC, "--transport"),
    "seed": _whole(0, "--seed", (TRAIN, ALLREDUCE)),
    "model": _text("a model of gradcomp-train --help", r"[a-z0-9_]+", "--model", (TRAIN,)),
    "data": _text("a data set of gradcomp-train --help", LINE, "--data", (TRAIN,)),
    "strategy": _text("a strategy of gradcomp-methods --list=strategies, name:key=value", SPEC, "--strategy", (TRAIN,)),
    "sampler": _text("a sampler of gradcomp-methods --list=samplers, name:key=value", SPEC, "--sampler", (TRAIN,)),
    "bucket_kib": Key("'auto' or a whole number from 1", lambda v: v == "auto" or (type(v) is int and v >= 1), "--bucket-kib",
                      (TRAIN,)),
    "sweep_buckets": _flag(None),  # runs gradcomp-tune --buckets-only first
    "batch": _whole(1, "--batch"), "steps": _whole(1, "--steps"), "seeds": _whole(1, "--seeds"),
    "warmup": _whole(0, "--warmup"), "block": _whole(1, "--block"), "length": _whole(1, "--length"),
    "evaluate_every": _whole(1, "--evaluate-every"), "accumulate": _whole(1, "--accumulate"),
    "lr": _real("--lr"), "momentum": _real("--momentum"), "weight_decay": _real("--weight-decay"), "clip": _real("--clip"),
    "skew": _real("--skew"), "quality_tolerance": _real("--quality-tolerance"),
    "optimiser": _choice(("sgd", "adamw"), "--optimiser"), "decay": _choice(("cosine", "constant"), "--decay"),
    "target": _text("accuracy=X or perplexity=X", r"(accuracy|perplexity)=[0-9.]+", "--target", (TRAIN,)),
    "rates": _text("a file of gradcomp-tune, relative to the experiment's folder", LINE, "--rates", (TRAIN,)),
    "sizes": _text("numbers of elements with commas between them", r"\d+(,\d+)*", "--sizes", (ALLREDUCE,)),
    "repetitions": _whole(1, "--repetitions", (ALLREDUCE,)),
}
