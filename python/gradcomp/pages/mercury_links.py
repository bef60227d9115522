"""The third section of docs/results/mercury.md: Mercury over slow and fast links, compared with TicTac, AdaComm and
compression."""
import statistics

from gradcomp.output import text

from .intervals import ratio_of, shown_mean, sure
from .mercury_samplers import ADAPTIVE, GROUPED, IMAGES, UNGROUPED, UNIFORM, Case, over, seed_by_seed, words
from .page import Job
from .ranks import TINY, seeds_of, shaped

TICTAC = "fp32:strategy=priority:strategy.order=tac:strategy.bucket_kib=64"
ADACOMM = "fp32:strategy=local:strategy.period=4:strategy.adaptive=loss:strategy.adapt_every=60"
COMPRESSED = "top_k:ratio=0.01"
BOTH = COMPRESSED + ":sampler=mercury:sampler.slice=16:sampler.smoothing=1"
METHODS = (UNIFORM, TICTAC, ADACOMM, UNGROUPED, GROUPED, ADAPTIVE, COMPRESSED, BOTH)
RATES = (100, 1000)  # Mbit/s
FULL = {rate: Case(f"links_{rate}mbit", f"{rate} Mbit/s", IMAGES, METHODS, 600, 20, 8) for rate in RATES}
QUICK = {100: Case("links_100mbit", "100 Mbit/s", ("--model", "resnet8", *TINY, "--target", "accuracy=0.9"), (UNIFORM, ADAPTIVE), 8, 4,
                   2)}
COMPUTING = ("data", "forward", "backward", "compress", "decompress", "update")


def jobs(options):
    """A training over each link that the kernel shapes."""
    return [Job(case.name, words(case, shaped(2, rate)), f"links of {case.title}")
            for rate, case in (QUICK if options.quick else FULL).items()]


def _step(row):
    return row["step_time_ms"]["mean"]


def prediction(uniform, sampled):
    """([milliseconds of a step with the sampler as the model predicts it, for each seed], the factor by which it is shorter than with
    uniform batches). `uniform`, `sampled`: rows of the same seeds."""
    predicted = [_step(plain) - plain["stages_ms"]["exposed"] + max(plain["stages_ms"]["exposed"], row["stages_ms"]["importance"])
                 for plain, row in zip(uniform, sampled, strict=True)]
    return predicted, statistics.fmean(map(_step, uniform)) / statistics.fmean(predicted)


def gain(uniform, sampled, key, factor=1):
    """`factor` times the column `key` with uniform batches over the same with the sampler, with its interval over seeds, which are
    pairs; a dash if a seed misses the target."""
    pairs = seed_by_seed(sampled, uniform, key)
    if pairs is None:
        return text.DASH
    return text.measured(*(end and factor * end for end in ratio_of(*pairs)), show=text.ratio)


def table(record):
    """A line per method."""
    seeds, totals = seeds_of(record)
    lines = []
    for label, rows in seeds.items():
        total, slices = totals[label], [row["slices_per_step"] for row in rows if "slices_per_step" in row]
        lines.append([f"`{label}`", shown_mean([*map(_step, rows)]),
                      shown_mean([row["stages_ms"]["exposed"] for row in rows]),
                      text.number(statistics.fmean(slices)) if slices else text.DASH,
                      f"{total['seeds_at_target']} of {len(rows)}", over(total, "steps_to_target", text.number),
                      over(total, "time_to_target_s", text.number),
                      text.diverged(rows) or over(total, "test_quality", text.percent)])
    return ["method", "step, ms", "waits for the exchange, ms", "slices a step", "seeds at the target", "steps to it", "seconds to it",
            "test accuracy at the end"], lines


def model_table(record):
    """The speed-up model and the measurement, for Mercury and the same method with uniform batches."""
    seeds, _ = seeds_of(record)
    lines = []
    for label, rows in seeds.items():
        plain = label.split(":sampler=")[0]
        if "sampler=mercury" not in label or plain not in seeds:  # other samplers do not compute importance in every step
            continue
        predicted, shorter_by = prediction(seeds[plain], rows)
        measured = [*map(_step, rows)]
        off, *ends = ratio_of(predicted, measured)
        lines.append([f"`{label}`", shown_mean([row["stages_ms"]["importance"] for row in rows]), shown_mean(predicted),
                      shown_mean(measured), text.percent(off - 1) + text.within(ends[0] and [end - 1 for end in ends], text.percent),
                      gain(seeds[plain], rows, "steps_to_target", shorter_by), gain(seeds[plain], rows, "time_to_target_s")])
    return ["sampler", "importance, ms a step", "step predicted, ms", "measured, ms", "off", "speed-up to the target: predicted",
            "measured"], lines


def answer(found, quick):
    """(how many samplers reach the target in less time than uniform batches, by their intervals; by how much)"""
    cells, words = {}, []
    for case in (QUICK if quick else FULL).values():
        seeds, _ = seeds_of(found[case.name]) if case.name in found else ({}, {})
        for label in (label for label in (UNGROUPED, GROUPED, ADAPTIVE) if label in seeds):
            pairs = seed_by_seed(seeds[label], seeds[UNIFORM], "time_to_target_s")
            words.append(sure(*ratio_of(*pairs)) if pairs else "no")
            cells.setdefault(label, {})[case.title] = gain(seeds[UNIFORM], seeds[label], "time_to_target_s")
    if not words:
        return "", None
    titles = list(next(iter(cells.values())))
    return ("Training more often on samples with large losses reaches the target in less time than uniform batches in "
            f"{words.count('yes')} of the {len(words)} cases below (speed-up to the target).",
            (["sampler", *titles], [[f"`{label.removeprefix('fp32:')}`", *(row[title] for title in titles)]
                                                                        for label, row in cells.items()]))


def write(out, found, quick):
    """Adds two tables for each link whose record exists."""
    for case in (QUICK if quick else FULL).values():
        if case.name not in found:
            continue
        row = found[case.name].rows[0]
        out.add(f"Links of {case.title}", f"The images of above, two ranks over links that the kernel shapes, {case.seeds} seeds. "
                "TicTac: `strategy=priority:strategy.order=tac`; AdaComm: `strategy=local:strategy.adaptive=loss`. Target: accuracy of "
                f"{row['target']:g} on the validation set.", table(found[case.name]))
        out.add(f"The speed-up model at {case.title}", "Predicted from the parts of the run with uniform batches (computing T_cp, "
                "waiting T_cm), from the time of importance T_is, and from the steps to the target E and E_is: a step takes "
                "T_cp + max(T_cm, T_is). *Off*: predicted over measured, less one. Both speed-ups use the measured steps "
                "to the target: only the time of a step is predicted. The intervals are Student's over the seeds, each compared with "
                "uniform batches of the same seed.",
                model_table(found[case.name]))
