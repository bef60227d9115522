"""The third section of docs/results/exchange.md: samples a second with 1, 2 and 4 ranks."""
from gradcomp.output import text

from . import one_gradient
from .exchange_bars import BOUND, errors, ratio, round_means
from .intervals import TIMES, ratio_of
from .page import Job
from .ranks import CORES, TINY, asked, memory, rows_of, shaped

METHODS = (BOUND, "fp32", "ef_sign:reducer=two_phase", "powersgd:rank=2")
RATE = 100  # Mbit/s
SIGN = "\N{MULTIPLICATION SIGN}"
# The model with its options, steps, block, and the numbers of ranks that are compared with one rank.
FULL = (("--model", "resnet20", "--data", "shapetex10:train=8000:test=500", "--batch", 32), 80, 10, (2, 4))
QUICK = (("--model", "resnet8", *TINY), 6, 3, (2,))
ONE = "scaling_1"


def _names(counts):
    """{place where ranks meet: {ranks: job}}"""
    return {"shared memory": {ranks: f"scaling_{ranks}_memory" for ranks in counts},
            f"links of {RATE} Mbit/s": {ranks: f"scaling_{ranks}_{RATE}mbit" for ranks in counts}}


def jobs(options):
    """The jobs: one rank, then several over shared memory and over links."""
    trained, steps, block, counts = QUICK if options.quick else FULL
    train = ("gradcomp-train", *trained, "--steps", steps, "--block", block, "--evaluate-every", steps, "--no-controls",
             "--methods", ",".join(METHODS))
    inside, linked = _names(counts).values()
    places = [(ONE, memory(1), "one rank"),
              *((name, memory(ranks), f"{ranks} ranks over shared memory") for ranks, name in inside.items()),
              *((name, shaped(ranks, RATE), f"{ranks} ranks over links of {asked(ranks, RATE)}") for ranks, name in linked.items())]
    return [Job(name, (*start, *train), purpose, samples=(TIMES,)) for name, start, purpose in places]


def _rate(row, ranks, step):
    """The samples per second of all ranks if a step takes `step` milliseconds."""
    return 1000 * ranks * row["batch_per_rank"] / step


def rates(record, ranks):
    """{label: samples per second of all ranks, by the mean step} of the methods that did not diverge"""
    return {label: _rate(row, ranks, row["step_time_ms"]["mean"]) for label, row in rows_of(record).items()
            if not text.diverged([row])}


def _shown_rate(row, ranks, rounds):
    """The samples per second, with their 95 % interval over the rounds if the record has single steps."""
    one = _rate(row, ranks, 1)
    return text.measured(*(ratio_of([one] * rounds, round_means(row, rounds)) if TIMES in row else (one / row["step_time_ms"]["mean"],)))


def table(one, several, known, rounds):
    """A line per method; `several`: {ranks: record}; `known`: the errors of errors(). Efficiency is relative to one rank without
    exchange, which is another run and so gives no interval, and to the same number of ranks without exchange in the same run."""
    alone, lines = rates(one, 1)[BOUND], []
    for label in rows_of(one):
        cells = [f"`{label}`"]
        for ranks, record in {1: one, **several}.items():
            found = rates(record, ranks)
            if label not in found:
                cells += [text.diverged([rows_of(record)[label]]), *[text.DASH] * (2 if ranks > 1 else 1)]
                continue
            cells += [_shown_rate(rows_of(record)[label], ranks, rounds),
                      *([text.percent(found[label] / (ranks * alone))] if ranks > 1 else []),
                      text.measured(*ratio(record, label, rounds), show=text.percent)]
        lines.append([*cells, one_gradient.cell(known, label)])
    heads = [head for ranks in several for head in (f"{ranks} ranks: samples/s", f"of {ranks} {SIGN} 1 rank", f"of `{BOUND}`")]
    return ["method", "1 rank: samples/s", f"of `{BOUND}`", *heads, "NMSE"], lines


def _crowded(ranks, linked):
    """Sentences on ranks that share cores; empty if every rank has its own."""
    if ranks <= CORES:
        return ""
    slow = asked(ranks, RATE).removesuffix("mbit")
    return (f" {ranks} ranks share {CORES} cores, so the first efficiency cannot exceed {100 * CORES / ranks:.0f} %, and the "
            "second one alone tells of the exchange." +
            (f" With {ranks} ranks the links have {slow} Mbit/s, since ranks are slower by as much." if linked else ""))


def write(out, found, quick):
    """Adds the tables whose records exist."""
    if ONE not in found:
        return
    (_, steps, block, counts), row = QUICK if quick else FULL, found[ONE].rows[0]
    for place, names in _names(counts).items():
        there = {ranks: found[name] for ranks, name in names.items() if name in found}
        if not there:
            continue
        out.add(f"Scaling over {place}, throughput only", f"`{row['model']}`, batch {row['batch_per_rank']} on every rank, {steps} "
                f"steps in blocks of {block}. *Of N {SIGN} 1 rank*: samples a second over N times those of one rank without an "
                f"exchange, in another run. *Of `{BOUND}`*: over those of as many ranks without an exchange, in the same run."
                f"{_crowded(max(there), 'links' in place)}", table(found[ONE], there, errors(row["model"], found), steps // block))
