"""The second section of docs/results/mercury.md: random, grouped and ungrouped importance sampling on each kind of input."""
import dataclasses
import functools
import statistics

from gradcomp.output import text

from .intervals import mean_interval
from .mercury_losses import EASY
from .page import Job
from .ranks import TINY, memory, seeds_of

UNIFORM = "fp32"
UNGROUPED = "fp32:sampler=importance:sampler.every=10:sampler.smoothing=1"
GROUPED = "fp32:sampler=mercury:sampler.slices=4:sampler.slice=16:sampler.smoothing=1"
RELEASED = GROUPED + ":sampler.variant=paper"
ADAPTIVE = "fp32:sampler=mercury:sampler.slice=16:sampler.smoothing=1"
RESHARDED = GROUPED + ":sampler.reshard=20"


@dataclasses.dataclass(frozen=True)
class Case:
    """What is trained, to which quality, and how batches are drawn."""

    name: str
    title: str
    options: tuple
    methods: tuple
    steps: int
    block: int
    seeds: int = 3


IMAGES = ("--model", "resnet8", "--data", EASY, "--batch", 16, "--lr", 0.05, "--target", "accuracy=0.88")
SPEECH = ("--model", "frames_lstm_1x64", "--data", "keywords:train=4000:test=500", "--batch", 16, "--lr", 0.2, "--clip", 1,
          "--target", "accuracy=0.6")
TEXT = ("--model", "lstm_1x96", "--data", "hmm", "--batch", 16, "--lr", 1, "--momentum", 0, "--clip", 0.25, "--target", "perplexity=80")
METHODS = (UNIFORM, UNGROUPED, GROUPED, RELEASED, ADAPTIVE)
FULL = (Case("samplers_images", "Images, four in five of them easy", IMAGES, METHODS, 600, 20, 8),
        Case("samplers_skewed", "The same images, skewed shards", (*IMAGES, "--skew", 0.3), (UNIFORM, UNGROUPED, GROUPED, RESHARDED),
             600, 20),
        Case("samplers_speech", "Speech", SPEECH, METHODS, 700, 20),
        Case("samplers_text", "Text", TEXT, METHODS, 700, 20))
QUICK = (Case("samplers_images", "Images", ("--model", "resnet8", *TINY, "--target", "accuracy=0.9"), (UNIFORM, GROUPED, RESHARDED),
              8, 4, 2),)


def words(case, start):
    """The command of a case; `start`: the words that start the ranks."""
    return (*start, "gradcomp-train", *case.options, "--decay", "constant", "--steps", case.steps, "--block", case.block,
            "--evaluate-every", case.block, "--seeds", case.seeds, "--no-controls", "--methods", ",".join(case.methods))


def jobs(options):
    """The jobs: a training of each case in shared memory."""
    return [Job(case.name, words(case, memory(2)), case.title) for case in (QUICK if options.quick else FULL)]


def over(total, key, show):
    """The mean over seeds with its interval; a dash if a seed has no value."""
    found = total.get(f"{key}_over_seeds")
    if not found or text.missing(found.get("mean")):
        return text.DASH
    return text.measured(**found, show=show)


def passes(rows):
    """Samples of importance passes per sample that a step trains on."""
    if "slices_per_step" not in rows[0]:
        return 0.0
    slices = statistics.fmean(row["slices_per_step"] for row in rows)
    size = next(int(part.split("=")[1]) for part in rows[0]["sampler"].split(":") if part.startswith("slice="))
    return slices * size / rows[0]["batch_per_rank"]


def seed_by_seed(rows, uniform, key):
    """([the values of column `key` with uniform batches], [those of `rows`]), seed by seed; None if the seeds differ or one has no
    value."""
    mine, theirs = ({row["seed"]: row.get(key) for row in some} for some in (rows, uniform))
    if mine.keys() != theirs.keys() or any(map(text.missing, [*mine.values(), *theirs.values()])):
        return None
    return [theirs[seed] for seed in mine], list(mine.values())


def gains(rows, uniform, compared=1):
    """Steps to the target that each seed saves compared with uniform batches of the same seed: (mean, low, high) by Student's
    interval; None if some seed misses the target. The intervals of all `compared` samplers of a table hold together with 95 %
    (Bonferroni's correction)."""
    pairs = seed_by_seed(rows, uniform, "steps_to_target")
    if pairs is None or len(rows) < 2:
        return None
    return mean_interval([theirs - mine for theirs, mine in zip(*pairs, strict=True)], compared)


def fewer(gain):
    """Whether the target takes fewer steps than with uniform batches, judged by the interval of gains()."""
    if gain is None:
        return text.DASH
    _, low, high = gain
    return "fewer" if low > 0 else "more" if high < 0 else "not told apart"


def saved(gain):
    """The result of gains() as text."""
    return text.DASH if gain is None else "{:.0f} ({:.0f} to {:.0f})".format(*gain)


def table(record):
    """A line per sampler."""
    seeds, totals = seeds_of(record)
    lines = []
    for label, rows in seeds.items():
        total, metric = totals[label], rows[0]["metric"]
        gain = gains(rows, seeds[UNIFORM], len(seeds) - 1) if label != UNIFORM else None
        reached = f"{total['seeds_at_target']} of {len(rows)}"
        lines.append([f"`{label}`", text.number(passes(rows)), reached, over(total, "steps_to_target", text.number),
                      *((fewer(gain), saved(gain)) if label != UNIFORM else ("", "")),
                      text.diverged(rows) or over(total, "test_quality", functools.partial(text.quality, metric))])
    return ["sampler", "losses computed per trained sample", "seeds at the target", "steps to it", "than uniform",
            "steps saved, seed by seed", "test quality at the end"], lines


def answer(found, quick):
    """How many samplers need fewer steps than uniform batches."""
    words = []
    for case in (case for case in (QUICK if quick else FULL) if case.name in found):
        seeds, _ = seeds_of(found[case.name])
        words += [fewer(gains(rows, seeds[UNIFORM], len(seeds) - 1)) for label, rows in seeds.items() if label != UNIFORM]
    known = [word for word in words if word != text.DASH]
    return (f"In {known.count('fewer')} of {len(known)} comparisons it takes fewer steps for certain, and in {known.count('more')} it "
            "takes more." if known else "")


def write(out, found, quick):
    """Adds a table for each case whose record exists."""
    for case in QUICK if quick else FULL:
        if case.name not in found:
            continue
        row = found[case.name].rows[0]
        out.add(case.title, f"`{row['model']}` on `{row['data']}`, 2 ranks in shared memory, batch {row['batch_per_rank']} per rank, "
                f"{case.steps} steps, {case.seeds} seeds; target: {row['metric']} of {row['target']:g} on the validation set, looked at "
                f"every {case.block} steps. A loss costs a forward pass over the sample, without a backward pass. Times are "
                "those of the tables over links. *Steps saved*: compared with uniform batches of the same seed. These intervals are "
                "corrected for the number of samplers in the table (Bonferroni), and they decide the verdict *than uniform*.",
                table(found[case.name]))
