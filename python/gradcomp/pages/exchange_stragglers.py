"""The second section of docs/results/exchange.md: what a slow rank costs under each strategy."""
import statistics

from gradcomp.output import text

from .intervals import ratio_of, shown_mean, sure
from .page import Job
from .ranks import TINY, memory, seeds_of

COMPRESSORS = ("fp32", "qsgd:bits=4")
STRATEGIES = ("", ":strategy=servers", ":strategy=servers:strategy.mode=async", ":strategy=servers:strategy.mode=bounded",
              ":strategy=local:strategy.period=8", ":strategy=priority")
METHODS = ("no_exchange", *(method + strategy for method in COMPRESSORS for strategy in STRATEGIES))
SLOW, UNEVEN = "rank=1,factor=2", "jitter=0.5"
LARGER = 0.5 * (1 + 1 / 2)  # mean of the larger of two exponential variables of mean 0.5
EVEN_JOB, SLOW_JOB, UNEVEN_JOB = "stragglers_even", "stragglers_slow", "stragglers_uneven"
# The model with its options, steps, block, seeds. Steps and blocks are multiples of the period of `local`.
FULL = (("--model", "resnet8", "--data", "shapetex10:train=8000:test=500", "--batch", 16), 128, 32, 3)
QUICK = (("--model", "resnet8", *TINY), 16, 16, 2)


def jobs(options):
    """The jobs: ranks of the same speed, one slow rank, and ranks of uneven speed."""
    trained, steps, block, seeds = QUICK if options.quick else FULL
    words = (*memory(2), "gradcomp-train", *trained, "--steps", steps, "--block", block, "--evaluate-every", steps, "--seeds",
             seeds, "--no-controls", "--methods", ",".join(METHODS))
    return [Job(EVEN_JOB, words, "ranks of the same speed"), Job(SLOW_JOB, (*words, "--straggler", SLOW), "one slow rank"),
            Job(UNEVEN_JOB, (*words, "--straggler", UNEVEN), "ranks of uneven speed")]


def _mean(values):
    """The values of all seeds; None if a seed has no value."""
    return None if any(text.missing(value) for value in values) else statistics.fmean(values)


def _loss(rows):
    """Mean over seeds, with several seeds also the smallest and the largest value; or that a seed diverged."""
    values = [row["validation_loss"] for row in rows]
    mean = _mean(values)
    if mean is None or len(values) == 1:
        return text.diverged(rows) or text.number(mean)
    return text.number(mean) + text.within((min(values), max(values)))


def _ratio(theirs, mine):
    """The ratio of two mean steps with its interval; a dash if a seed diverged before its first step was timed."""
    if any(map(text.missing, (*theirs, *mine))):
        return text.DASH
    return text.measured(*ratio_of(theirs, mine), show=text.ratio)


def _beside(label, found):
    """The speed beside the same compressor without a strategy, in the same run, with its interval."""
    plain = label.split(":strategy=")[0]
    if plain == label:
        return text.DASH
    return _ratio(*([row["step_time_ms"]["mean"] for row in found[name]] for name in (plain, label)))


def table(even, slow):
    """A line per method. Times are means, because a rank that is not in step waits only in a few steps, which a median would
    hide."""
    lines, (plain, _), (uneven, _) = [], seeds_of(even), seeds_of(slow)
    for label, rows in uneven.items():
        known = [[row["step_time_ms"]["mean"] for row in some] for some in (plain[label], rows)]
        stale = [_mean([row.get("staleness_mean") for row in rows])]
        stale.append(None if stale[0] is None else max(row["staleness_max"] for row in rows))
        waiting = [row["stages_ms"].get("waiting") for row in rows]
        lines.append([f"`{label}`", *map(shown_mean, known), _ratio(*reversed(known)), _beside(label, uneven), shown_mean(waiting),
                      text.DASH if stale[0] is None else f"{text.number(stale[0])}, {stale[1]:.0f}", _loss(plain[label]),
                      _loss(rows)])
    return ["method", "step, ms: even ranks", "these", "longer by", "speed beside no strategy", "waiting, ms",
            "staleness: mean, largest", "validation loss at the end: even ranks", "these"], lines


def answer(found):
    """How many strategies hide a slow rank."""
    if SLOW_JOB not in found:
        return ""
    seeds, _ = seeds_of(found[SLOW_JOB])
    steps = {label: [row["step_time_ms"]["mean"] for row in rows] for label, rows in seeds.items()}
    with_strategy = [label for label in steps if ":strategy=" in label]
    words = [sure(*ratio_of(steps[label.split(":strategy=")[0]], steps[label])) for label in with_strategy]
    return f"Beside a rank twice as slow, {words.count('yes')} of {len(words)} strategies help."


def write(out, found, quick):
    """Adds a table for each kind of uneven ranks, if its record and that of even ranks exist."""
    _, steps, block, seeds = QUICK if quick else FULL
    where = (f"batch {found[EVEN_JOB].rows[0]['batch_per_rank']} per rank, {steps} steps in blocks of {block}, {seeds} seeds, one "
             "learning rate for all methods") if EVEN_JOB in found else ""
    if EVEN_JOB in found and SLOW_JOB in found:
        out.add("A slow rank", f"Two ranks over shared memory, `--straggler {SLOW}`: rank 1 takes twice as long to compute. "
                f"`{found[SLOW_JOB].rows[0]['model']}`, {where}. All workers make the same number of steps, so a rank that is always "
                "slow holds up every strategy, at the latest at the end of a block. Steps and waits are means over "
                "seeds; they and the ratios of steps have 95 % intervals by Student's t over the seeds. Losses are means with the least "
                "and the largest: so few steps and seeds are a hint, no verdict on quality. A step of `servers:mode=async`, `bounded` "
                "and `priority` is the mean over the ranks, that of the others is the slowest rank's. *Speed beside no strategy*: the "
                "same compressor, in the same run. *Waiting*: the part of a step in which ranks wait for a slower one, a median of each "
                "seed; ranks that are not in step have no such figure. *Staleness*: updates between the parameters that a gradient is "
                "of and its own update.",
                table(found[EVEN_JOB], found[SLOW_JOB]))
    if EVEN_JOB in found and UNEVEN_JOB in found:
        out.add("Ranks of uneven speed", f"The same with `--straggler {UNEVEN}`: the computation of every rank is longer by a random "
                f"part of its own in every step, half of it in the mean. In the mean the larger of two such parts is {LARGER:g} of the "
                f"computation, so `no_exchange`, whose slowest rank counts, should be longer by {1 + LARGER:g}. If its interval "
                "excludes this, the speed of the machine has changed since the run with even ranks, and only lines of the same run "
                "can be compared. `async` and `bounded` are meant to hide what differs from step to step: *speed beside no strategy* "
                "says whether they do.", table(found[EVEN_JOB], found[UNEVEN_JOB]))
