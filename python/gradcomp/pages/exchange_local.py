"""The fourth section of docs/results/exchange.md: the quality that local steps keep, and the bytes that they send."""
import dataclasses
import statistics

from gradcomp.output import text

from .page import Job
from .ranks import TINY, memory, seeds_of

NESTEROV = ":strategy.outer_rate=0.7:strategy.outer_momentum=0.9:strategy.outer_nesterov=on"
LOCAL = ":strategy=local:strategy.period={}"
LR = 0.05  # rate of the job; a method has it unless it has an option of its own
USUAL, LARGE = (0.05, 0.1), (0.1, 0.4)  # learning rates; a line shows the better of the two
NEAR_EVERY_STEP, RARE = (0.0125, 0.05), (0.025, 0.1)  # with an outer momentum, whose steps add up
PLAIN, CONTROL = "no local steps", "the control: its exchange in every step"


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the tables: one method at several learning rates."""

    kind: str
    every: int  # period in steps
    spec: str
    rates: tuple = USUAL

    def labels(self):
        """{rate: the method's words}"""
        return {rate: self.spec if rate == LR else f"{self.spec}:lr={rate}" for rate in self.rates}


def _nesterov_rates(every):
    return RARE if every > 32 else NEAR_EVERY_STEP


def lines(periods):
    """The method that exchanges in every step; then for each period the local methods and their controls."""
    found = [Line(PLAIN, 1, "fp32"), Line("outer Nesterov", 1, "fp32" + LOCAL.format(1) + NESTEROV, _nesterov_rates(1))]
    for every in periods:
        local = LOCAL.format(every)
        found += [Line("local SGD", every, "fp32" + local),
                  Line("local SGD, `qsgd:bits=4`", every, "qsgd:bits=4" + local),
                  Line("outer Nesterov", every, "fp32" + local + NESTEROV, _nesterov_rates(every)),
                  Line(CONTROL, every, "fp32" + local + NESTEROV + ":strategy.inner=mean", _nesterov_rates(every)),
                  Line("accumulation", every, f"fp32:strategy=accumulate:strategy.every={every}", LARGE)]
    return found


# The model with its options, steps, block, seeds, periods. Steps and blocks are multiples of all periods.
FULL = (("--model", "resnet8", "--data", "shapetex10:train=8000:test=1000", "--batch", 8), 384, 128, 3, (8, 32, 128))
QUICK = (("--model", "resnet8", *TINY), 8, 4, 2, (2, 4))
SKEW = 0.1
EVEN_JOB, SKEWED_JOB = "local_even", "local_skewed"


def jobs(quick):
    """The jobs: even shards, and shards that are skewed by label."""
    options, steps, block, seeds, periods = QUICK if quick else FULL
    methods = ",".join(label for line in lines(periods) for label in line.labels().values())
    words = (*memory(2), "gradcomp-train", *options, "--lr", LR, "--steps", steps, "--block", block, "--evaluate-every", steps,
             "--seeds", seeds, "--no-controls", "--methods", methods)
    return [Job(EVEN_JOB, words, "local steps on even shards"),
            Job(SKEWED_JOB, (*words, "--skew", SKEW), "local steps on skewed shards")]


def chosen(line, seeds):
    """(rate, label) with the best mean accuracy on the validation set, among those that diverged with no seed; None if all
    diverged."""
    found = []
    for rate, label in line.labels().items():
        values = [row["validation_quality"] for row in seeds.get(label, ())]
        if values and not any(map(text.missing, values)):
            found.append((statistics.fmean(values), rate, label))
    return max(found, key=lambda one: one[0])[1:] if found else None


def table(record, periods):
    """A line per method, at the better of its rates."""
    seeds, totals = seeds_of(record)
    cells, dense = [], None
    for line in lines(periods):
        choice = chosen(line, seeds)
        if choice is None:
            cells.append([line.kind, str(line.every), "diverged", *4 * [text.DASH]])
            continue
        rate, label = choice
        sent = seeds[label][0]["wire_bytes"]
        dense = sent if line.kind == PLAIN else dense
        over = totals[label]["test_quality_over_seeds"] or {"mean": None, "low": None, "high": None}
        cells.append([line.kind, str(line.every), f"{rate:g}", text.number(sent / 1024),
                      text.percent(sent / dense if dense else None), text.percent(over["mean"]),
                      f"{text.percent(over['low'])} to {text.percent(over['high'])}"])
    return ["method", "steps from exchange to exchange, H", "rate", "KiB sent a step", "of those with H = 1", "test accuracy",
            "95 % interval"], cells


def write(out, found, quick):
    """Adds a table for each kind of shard whose record exists."""
    _, steps, _, seeds, periods = QUICK if quick else FULL
    shards = {EVEN_JOB: ("even", "Samples are dealt to the ranks at random, new in every epoch."),
              SKEWED_JOB: ("skewed", f"`--skew {SKEW}`: each rank owns samples of its own, and most samples of a class belong to "
                           "one of the two.")}
    for name, (word, dealt) in shards.items():
        if name not in found:
            continue
        row = found[name].rows[0]
        out.add(f"Local methods, {word} shards", f"{dealt} `{row['model']}`, 2 ranks, batch {row['batch_per_rank']} per rank, {steps} "
                f"steps, {seeds} seeds; the interval is Student's over seeds. Each line has the better of two learning rates, chosen "
                "on the validation set with the same seeds; the other one is in the command, and a still better one may lie "
                f"beyond both. *Outer Nesterov*: DiLoCo's outer optimiser (rate 0.7, momentum 0.9). *{CONTROL.capitalize()}*: the "
                "same outer optimiser every H steps, where all ranks take the mean gradient in each: what it gains owes nothing "
                "to saved bytes. *Accumulation*: one update with the mean gradient of H steps.", table(found[name], periods))
