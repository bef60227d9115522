"""The third section of docs/results/exchange.md: samples a second with 1, 2 and 4 ranks."""
from gradcomp.output import text

from .page import Job
from .ranks import CORES, TINY, asked, memory, rows_of, shaped

BOUND = "no_exchange"
METHODS = (BOUND, "fp32", "ef_sign:reducer=two_phase", "powersgd:rank=2")
RATE = 100  # Mbit/s
TIMES = "\N{MULTIPLICATION SIGN}"
# The model with its options, steps, block, and the numbers of ranks that are compared with one rank.
FULL = (("--model", "resnet20", "--data", "shapetex10:train=8000:test=500", "--batch", 32), 40, 20, (2, 4))
QUICK = (("--model", "resnet8", *TINY), 6, 3, (2,))
ONE = "scaling_1"


def _names(counts):
    """{place where ranks meet: {ranks: job}}"""
    return {"shared memory": {ranks: f"scaling_{ranks}_memory" for ranks in counts},
            f"links of {RATE} Mbit/s": {ranks: f"scaling_{ranks}_{RATE}mbit" for ranks in counts}}


def jobs(quick):
    """The jobs: one rank, then several over shared memory and over links."""
    options, steps, block, counts = QUICK if quick else FULL
    train = ("gradcomp-train", *options, "--steps", steps, "--block", block, "--evaluate-every", steps, "--no-controls",
             "--methods", ",".join(METHODS))
    inside, linked = _names(counts).values()
    return [Job(ONE, (*memory(1), *train), "one rank"),
            *(Job(name, (*memory(ranks), *train), f"{ranks} ranks over shared memory") for ranks, name in inside.items()),
            *(Job(name, (*shaped(ranks, RATE), *train), f"{ranks} ranks over links of {asked(ranks, RATE)}")
              for ranks, name in linked.items())]


def rates(record):
    """{label: samples per second}"""
    return {label: row["samples_per_second"] for label, row in rows_of(record).items()}


def table(one, several):
    """A line per method; `several`: {ranks: record}. Efficiency is relative to one rank without exchange, and to the same
    number of ranks without exchange."""
    alone, known = rates(one), {ranks: rates(record) for ranks, record in several.items()}
    lines = []
    for label, rate in alone.items():
        cells = [f"`{label}`", text.number(rate), text.percent(rate / alone[BOUND])]
        for ranks, found in known.items():
            cells += [text.number(found[label]), text.percent(found[label] / (ranks * alone[BOUND])),
                      text.percent(found[label] / found[BOUND])]
        lines.append(cells)
    heads = [head for ranks in known for head in (f"{ranks} ranks: samples/s", f"of {ranks} {TIMES} 1 rank", f"of `{BOUND}`")]
    return ["method", "1 rank: samples/s", f"of `{BOUND}`", *heads], lines


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
    (_, steps, _, counts), row = QUICK if quick else FULL, found[ONE].rows[0]
    for place, names in _names(counts).items():
        there = {ranks: found[name] for ranks, name in names.items() if name in found}
        if not there:
            continue
        out.add(f"Scaling over {place}, throughput only", f"`{row['model']}`, batch {row['batch_per_rank']} on every rank, {steps} "
                f"steps, medians. *Of N {TIMES} 1 rank*: samples a second over N times those of one rank without an exchange. *Of "
                f"`{BOUND}`*: over those of as many ranks without an exchange.{_crowded(max(there), 'links' in place)}",
                table(found[ONE], there))
