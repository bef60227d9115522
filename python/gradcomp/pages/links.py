"""docs/results/links.md: steps over links that the kernel shapes, compared with the same steps over links that the program
emulates."""
import dataclasses

from gradcomp.output import text

from . import one_gradient
from .intervals import ratio_of, shown_mean
from .page import UNKNOWN, Job, Page, Text
from .ranks import asked, shaped, slower

CONTROLS = ("fp32", "fp16", "bf16")
METHODS = ("top_k:ratio=0.01", "powersgd:rank=2", "qsgd:bits=4", "ef_sign:reducer=two_phase", "fp32:reducer=ring")
RATES = (100, 300, 1000)  # Mbit/s
LATENCY = "50us"  # approximate latency of the machine's namespaces
NEAR = 0.10  # the page counts how many emulated steps differ by less
VERDICTS = ("near", "too short", "too long", "open")


@dataclasses.dataclass(frozen=True)
class Case:
    """What is trained, and for how many steps in a round."""

    model: str
    options: tuple
    steps: int


FULL = (Case("resnet20", ("--data", "shapetex10", "--batch", 16), 15),
        Case("lstm_1x96", ("--data", "hmm", "--length", 32, "--batch", 32, "--lr", 2, "--clip", 1), 21))
QUICK = (Case("resnet8", ("--data", "shapetex10:train=64:test=32", "--batch", 4), 6),)


def _steps(case):
    return ("gradcomp-train", "--model", case.model, *case.options, "--steps", case.steps)


def _train(case):
    return (*_steps(case), "--evaluate-every", case.steps, "--methods", ",".join(METHODS))


def _error_jobs(case, folder):
    """The errors of the compressors, of the gradient of the last step, on one rank."""
    return one_gradient.jobs(_steps(case), folder, dict.fromkeys(map(one_gradient.compressor, (*CONTROLS, *METHODS))),
                             (f"gradient_{case.model}", f"errors_{case.model}"))


def _collected(pairs):
    """{key: its values in order}"""
    found = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def over_emulated(records):
    """{(method, Mbit/s): milliseconds of the mean step in each round}, from the records of all rounds"""
    return _collected(((row["label"], one["rate_mbit_s"]), one["step_time_ms"]["mean"])
                      for record in records for row in record.rows for one in row["over_links"])


def over_shaped(records):
    """{method: milliseconds of the mean step in each round}, from the records of all rounds"""
    return _collected((row["label"], row["step_time_ms"]["mean"]) for record in records for row in record.rows)


def verdict(low, high):
    """The word for an emulated step that takes low to high times as long as the shaped one."""
    if high < 1 - NEAR:
        return "too short"
    if low > 1 + NEAR:
        return "too long"
    return "near" if low >= 1 - NEAR and high <= 1 + NEAR else "open"


def table(imitated, real, known):
    """(the table, how often it has each verdict): a line per method, for each rate the shaped step, the emulated step, and by how
    much it is off. `imitated`: the records of all rounds; `real`: {Mbit/s: records of all rounds}; `known`: {compressor: NMSE}."""
    times, lines, counts = over_emulated(imitated), [], dict.fromkeys(VERDICTS, 0)
    steps = {rate: over_shaped(records) for rate, records in real.items()}
    for label in dict.fromkeys(label for label, _ in times):
        cells = [f"`{label}`"]
        for rate in real:
            ours, theirs = times[label, rate], steps[rate][label]
            if any(map(text.missing, (*ours, *theirs))):  # it diverged before a step was timed
                cells += [shown_mean(theirs), shown_mean(ours), text.DASH]
                continue
            off, low, high = ratio_of(ours, theirs)
            word = verdict(low, high)
            counts[word] += 1
            cells += [shown_mean(theirs), shown_mean(ours),
                      _off(off) + text.within((low, high), _off) + f" {word}"]
        lines.append([*cells, one_gradient.cell(known, label)])
    heads = [head for rate in real for head in (f"{rate} Mbit/s: shaped, ms", "emulated, ms", "off")]
    return (["method", *heads, "NMSE"], lines), counts


def answer(summary):
    """How many emulated steps can be believed, from [(the steps of a line, {verdict: how often})]."""
    if not summary:
        return (UNKNOWN,)
    counts = {word: sum(found[word] for _, found in summary) for word in VERDICTS}
    said = "Yes" if counts["near"] == sum(counts.values()) else "Only in part"
    return (f"Is the emulation of links to be believed? {said}: of {sum(counts.values())} emulated steps, {counts['near']} last as long "
            f"as over links that the kernel shapes, within {100 * NEAR:.0f} % (*near*). {counts['too short']} are too short, "
            f"{counts['too long']} too long, {counts['open']} open.",
            (["steps", *VERDICTS], [[title, *map(str, found.values())] for title, found in summary]))


def _off(ratio):
    return f"{100 * (ratio - 1):+.0f} %"


def _name(case, ranks, place, number):
    return f"{case.model}_{ranks}_{place}_{number}"


class Links(Page):
    name, tool, complete = "links", "links_page", False
    about = "Trains over links that the kernel shapes and over emulated links. Needs root and a quiet machine."
    programs = ("gradcomp-train", "gradcomp-evaluate", "mpirun")
    sources = ("python/gradcomp/links",)

    @staticmethod
    def _shape(options):
        """(cases, numbers of ranks, rates, rounds)"""
        return (QUICK, (2,), RATES[:2], 2) if options.quick else (FULL, (2, 4), RATES, 4)

    @staticmethod
    def _round(case, ranks, rates, number):
        """The jobs of a round: the emulated links, which take turns, then each shaped link."""
        threads = ("env", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=false")
        idle = ("OMPI_MCA_mpi_yield_when_idle=1", "KOKKOS_DISABLE_WARNINGS=1") if ranks > 2 else ()
        swept = ",".join(f"{rate}Mbit/s" for rate in rates) + f",{LATENCY}"
        yield Job(_name(case, ranks, "emulated", number),
                  (*threads, *idle, "mpirun", "-n", ranks, *_train(case), "--block", 1, "--link", swept), "steps over emulated links")
        for rate in rates:
            yield Job(_name(case, ranks, f"{rate}mbit", number), (*shaped(ranks, rate), *_train(case)),
                      f"steps over links of {asked(ranks, rate)}")

    def jobs(self, options):
        cases, counts, rates, rounds = self._shape(options)
        timed = [job for case in cases for ranks in counts for number in range(1, rounds + 1)
                 for job in self._round(case, ranks, rates, number)]
        return timed + [job for case in cases for job in _error_jobs(case, options.folder / case.model)]

    def text(self, records, options):
        cases, counts, rates, rounds = self._shape(options)
        summary, sections = [], []
        for case in cases:
            for ranks in counts:
                names = {place: [_name(case, ranks, place, number) for number in range(1, rounds + 1)]
                         for place in ("emulated", *(f"{rate}mbit" for rate in rates))}
                if any(name not in records for place in names.values() for name in place):
                    continue
                found = {place: [records[name] for name in those] for place, those in names.items()}
                steps, verdicts = table(found["emulated"], {rate: found[f"{rate}mbit"] for rate in rates},
                                        one_gradient.nmse(records.get(f"errors_{case.model}")))
                summary.append((f"`{case.model}`, {ranks} ranks", verdicts))
                shared = slower(ranks)
                note = "" if shared == 1 else (f" {shared} ranks share a core, so the emulated links are slowed by {shared}, and the "
                                               f"shaped ones have 1 / {shared} of the rate.")
                sections.append((f"{case.model}, {ranks} ranks, throughput only",
                                 f"`{case.model}`, {rounds} rounds of {case.steps} steps.{note}", steps))
        out = Text(self, "links", records, *answer(summary))
        out.lines += ["A training step over a link that the kernel shapes ([how](../links.md)), compared "
                "with the same step over the same link as `--link` emulates it. Each rank has one thread. In a round, the emulated "
                "links and then each shaped link have one job. Times are means. *Off*: emulated over shaped, less one, with its 95 % "
                f"interval by Student's t over rounds. *Near*: the whole interval is within {100 * NEAR:.0f} %. *Too short*, *too "
                "long*: the whole interval is beyond it. *Open*: neither. There are few steps and one learning rate: **throughput "
                f"only**. The table above counts methods and rates. {one_gradient.NOTE} {one_gradient.ALONE}", ""]
        out.name_missing(self.names(options))
        for section in sections:
            out.add(*section)
        return out.whole()


PAGE = Links()
