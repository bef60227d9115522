"""The first section of docs/results/exchange.md: how near compressed methods come to the throughput without communication."""
import dataclasses

import numpy as np

from gradcomp.output import text
from gradcomp.report.verdicts import MATCHED
from gradcomp.results import records

from . import one_gradient, training_verdicts
from .commands import command
from .intervals import TIMES, ratio_of, shown_mean, spans, sure
from .page import Job
from .ranks import TINY, rows_of, shaped, sharing

RINGS = ("fp32:reducer=ring", "fp16:reducer=ring")
FIRST_USED = ("fp32", *RINGS)  # these also run with priority: first the buckets that the next forward pass needs
CONTROLS = ("fp32", "fp16", "bf16")
COMPRESSED = ("top_k:ratio=0.01", "powersgd:rank=2", "qsgd:bits=4", "qsgd:bits=4:reducer=two_phase", "ef_sign:reducer=two_phase",
              "sign")
BOUND = "no_exchange"
RATES = "--rates"  # with the file of bucket sizes; the end of a command
TRAINING = records.ROOT / "docs/results/records/training"
# {(model, ranks): the run on the page of training that trains this with all controls}
QUALITIES = {("resnet20", 2): "resnet20", ("resnet20", 4): "resnet20_4", ("lstm_1x96", 2): "lstm", ("lstm_1x96", 4): "lstm_4"}
SAME = MATCHED  # in the words of that page
UNJUDGED = "\N{DAGGER}"  # marks a speed-up of which that page knows no quality


@dataclasses.dataclass(frozen=True)
class Over:
    """The number of ranks, the rate of their links in Mbit/s, and the steps of a method."""

    ranks: int
    rate: int
    steps: int
    block: int  # steps of one method in turn; the first is not timed

    @property
    def rounds(self):
        """How many blocks each method has."""
        return self.steps // self.block


@dataclasses.dataclass(frozen=True)
class Case:
    """What is trained, and the share of the throughput that must be reached."""

    model: str
    options: tuple
    bar: float | None
    links: tuple
    slice_kib: int  # buckets of the rows with priority
    note: str = ""


IMAGES = ("--data", "shapetex10:train=8000:test=500")
WORDS = ("--lr", 0.5)  # priority updates the first layers before a norm of the whole mean could clip them
FULL = (Case("resnet20", (*IMAGES, "--batch", 128), 0.95, (Over(2, 100, 40, 5), Over(2, 1000, 40, 5), Over(4, 100, 30, 5)), 64),
        Case("lstm_1x96", ("--data", "hmm", "--length", 32, "--batch", 32, *WORDS), 0.80,
             (Over(2, 100, 160, 20), Over(2, 1000, 160, 20), Over(4, 100, 80, 10)), 64),
        Case("lstm_2x200", ("--data", "hmm:vocabulary=10000:test=4000", "--length", 35, "--batch", 20, *WORDS), 0.80,
             (Over(2, 100, 10, 5), Over(2, 1000, 32, 4), Over(4, 100, 6, 6)), 512),
        Case("vgg11", ("--data", "shapetex10:train=2000:test=100", "--batch", 32, "--lr", 0.02), None,
             (Over(2, 100, 6, 6), Over(2, 1000, 8, 8)), 4096, " With 4 ranks a dense step would take more than 20 seconds, so 4 ranks "
             "were left out."))
QUICK = (Case("resnet8", TINY, 0.95, (Over(2, 100, 6, 3),), 64),)


def _cases(quick):
    return QUICK if quick else FULL


def _pairs(quick):
    return [(case, over, f"bars_{case.model}_{over.ranks}_{over.rate}mbit") for case in _cases(quick) for over in case.links]


def by_priority(case):
    """The dense rows of a case whose buckets travel by priority."""
    return tuple(f"{method}:strategy=priority:strategy.bucket_kib={case.slice_kib}" for method in FIRST_USED)


def _error_jobs(case, folder):
    """The errors of the compressors of a table, of the gradient at the end of its longest run, on one rank."""
    train = ("gradcomp-train", "--model", case.model, *case.options, "--steps", max(over.steps for over in case.links))
    return one_gradient.jobs(train, folder, dict.fromkeys(map(one_gradient.compressor, (*CONTROLS, *COMPRESSED))),
                             (f"gradient_{case.model}", f"errors_{case.model}"))


def errors(model, found):
    """{compressor: its NMSE}; empty if the records `found` lack it."""
    return one_gradient.nmse(found.get(f"errors_{model}"))


def _timed_job(case, over, name, rates):
    """Times the bucket sizes of the dense controls over the link, then trains over it."""
    start, trained = shaped(over.ranks, over.rate), ("--model", case.model, *case.options)
    words = (*start, "gradcomp-train", *trained, "--steps", over.steps, "--block", over.block, "--evaluate-every", over.steps,
             "--methods", ",".join((*RINGS, *by_priority(case), *COMPRESSED)), RATES, rates)

    def make(output, _):
        (records.ROOT / rates).unlink(missing_ok=True)
        command(*start, "gradcomp-tune", "--buckets-only", *trained, RATES, rates)
        command(*words, "--output", output)
    return Job(name, words, f"{case.model}, {over.ranks} ranks, {over.rate} Mbit/s", samples=(TIMES,), make=make)


def accepts(kept, words):
    """Whether a record of the command `kept` may stand where `words` would be measured now: also if gradcomp-train swept the sizes
    itself, as it once did, and if nothing did, which the page says."""
    words = words[:-2] if words[-2] == RATES else words
    return kept[:-2] == words if kept[-2] == RATES else kept in (words, [*words, "--sweep-buckets"])


def jobs(options):
    """A job for each case and link, and those of the errors of each model."""
    timed = [_timed_job(case, over, name, options.folder / f"{name}.rates") for case, over, name in _pairs(options.quick)]
    return timed + [job for case in _cases(options.quick) for job in _error_jobs(case, options.folder / case.model)]


def qualities(model, ranks, folder=TRAINING):
    """({label: verdict on the page of training}, source); empty if that page does not train the case."""
    path = folder / f"{QUALITIES.get((model, ranks), '')}.json"
    if not path.is_file():
        return {}, ""
    record = records.read_kept(path)
    found = training_verdicts.trained(record)
    without = training_verdicts.without_reference(found)
    return ({label: training_verdicts.verdict(one, without).split(",")[0] for label, one in found.items()},
            f"`{path.stem}`, commit {record.hash[:12]}")


def shares(record, rounds):
    """{label: share of the throughput without communication} of the methods that did not diverge, by mean times, since with
    priority the last step of a block waits for all buckets."""
    return {label: ratio(record, label, rounds)[0] for label, row in rows_of(record).items() if not text.diverged([row])}


def best(found, among):
    """The label of `among` with the largest share; None if there is none."""
    return max((label for label in among if label in found), key=found.get, default=None)


def dense_of(found):
    """Labels that send no compressed messages: the controls and their rings."""
    return [label for label in found if label.split(":")[0] in CONTROLS]


def dense_word(record):
    """What the fastest dense method of a record is called: best only if every control had its best bucket size."""
    controls = [row for row in record.rows if row["label"] in CONTROLS]
    return "best dense" if all(row.get("bucket_kib") is not None for row in controls) else "fastest dense, buckets not swept"


def round_means(row, rounds):
    """The mean step of a row in each of `rounds`, from its single steps."""
    return np.array(row[TIMES], float).reshape(rounds, -1).mean(axis=1).tolist()


def ratio(record, label, rounds, against=BOUND):
    """ratio_of() the step of `against` and that of a method, from the mean times in each of `rounds`; without an interval if the
    record lacks single steps, and beside itself. The intervals of all compressed methods of a record hold together."""
    rows = rows_of(record)
    compared = sum(name in COMPRESSED for name in rows) if label in COMPRESSED else 1
    if label == against or any(TIMES not in rows[name] for name in (against, label)):
        return rows[against]["step_time_ms"]["mean"] / rows[label]["step_time_ms"]["mean"], None, None
    return ratio_of(*(round_means(rows[name], rounds) for name in (against, label)), compared=compared)


def _step(row, rounds):
    """The mean step with its 95 % interval over the rounds; with one round, and if the record lacks single steps, without it."""
    return shown_mean(round_means(row, rounds)) if TIMES in row else text.number(row["step_time_ms"]["mean"])


def table(record, known, verdicts, rounds):
    """The table, a line per method. `known`: the errors of errors(); `verdicts`: those of qualities()."""
    found = shares(record, rounds)
    dense, compressed = best(found, dense_of(found)), best(found, COMPRESSED)
    word = dense_word(record)
    mark = word.split(",")[0]
    marks = {dense: f" **{mark}**", compressed: " **best compressed**"}
    lines = [[f"`{label}`{marks.get(label, '')}",
              *([_step(row, rounds), text.percent(found[label]),
                 text.measured(*ratio(record, label, rounds, dense), show=text.ratio)] if label in found else
                [text.diverged([row]), text.DASH, text.DASH]),
              one_gradient.cell(known, label), text.number(row["wire_bytes"] / 1024),
              *([verdicts.get(label, text.DASH)] if verdicts else [])] for label, row in rows_of(record).items()]
    return ["method", "step, ms", f"of the throughput of `{BOUND}`", f"speed beside the {word}", "NMSE",
            "KiB sent by a rank a step", *(["quality, of the page of training"] if verdicts else [])], lines


def answer(found, quick):
    """(by how much the fastest compressed method makes steps faster over each link; the same for each model). Where the page of training
    knows qualities, only methods with that of fp32 count."""
    cells, speeds = {}, {}
    for case, over, name in (pair for pair in _pairs(quick) if pair[2] in found):
        known, (verdicts, _) = shares(found[name], over.rounds), qualities(case.model, over.ranks)
        among = [label for label in COMPRESSED if not verdicts or verdicts.get(label) == SAME]
        dense, compressed = best(known, dense_of(known)), best(known, among)
        if dense and compressed:
            speeds.setdefault(over.rate, []).append(known[compressed] / known[dense])
            word = sure(*ratio(found[name], compressed, over.rounds, dense))
            shown = filter(None, [text.ratio(speeds[over.rate][-1]) + ("" if verdicts else UNJUDGED), word])
            cells.setdefault(case.model, {})[f"{over.ranks} ranks, {over.rate} Mbit/s"] = ", ".join(shown)
    if not speeds:
        return "", None
    links = list(dict.fromkeys(link for row in cells.values() for link in row))
    return (f"{spans(speeds)} Its quality is that of `fp32`, at {UNJUDGED} unknown.",
            (["model", *links], [[model, *(row.get(link, text.DASH) for link in links)] for model, row in cells.items()]))


def _held(record, label, bar, rounds):
    """A share of the throughput without communication, and whether the bar holds: it does, or it is missed, only if the whole corrected
    interval is on that side."""
    share, low, high = ratio(record, label, rounds)
    known = text.measured(share, low, high, show=text.percent)
    said = (f"`{label}`, whose share of the throughput without communication is {known}" if known == text.UNMEASURED else
            f"`{label}`, {known} of the throughput without communication")
    if low is None:
        return f"{said} (no interval)"
    if bar is None:
        return said
    return f"{said} (bar: {100 * bar:.0f} %: {'holds' if low >= bar else 'missed' if high < bar else 'open'})"


def verdict(record, bar, verdicts, rounds):
    """The sentences below a table."""
    found = shares(record, rounds)
    dense, compressed = best(found, dense_of(found)), best(found, COMPRESSED)
    said = [f"Best compressed: {_held(record, compressed, bar, rounds)}; {dense_word(record)}: `{dense}`, "
            f"{text.percent(found[dense])}."]
    if verdicts:
        good = best(found, [label for label in COMPRESSED if verdicts.get(label) == SAME])
        said.append("Best compressed of those with the quality of `fp32` on the page of training: "
                    f"{_held(record, good, bar, rounds)}." if good else
                    "No compressed method of this table has the quality of `fp32` on the page of training.")
    return " ".join(said)


def write(out, found, quick):
    """Adds the tables whose records exist."""
    for case, over, name in _pairs(quick):
        if name not in found:
            continue
        verdicts, source = qualities(case.model, over.ranks)
        parameters = found[name].rows[0]["parameters"]
        out.add(f"{case.model}, {over.ranks} ranks, {over.rate} Mbit/s, throughput only",
                f"{parameters:,} parameters, batch {found[name].rows[0]['batch_per_rank']} per rank, {over.steps} steps in blocks of "
                f"{over.block}, of which the first is not timed."
                f"{sharing(over.ranks, over.rate)}{case.note}{f' Quality: {source}.' if source else ''}",
                table(found[name], errors(case.model, found), verdicts, over.rounds))
        out.lines += [verdict(found[name], case.bar, verdicts, over.rounds), ""]
