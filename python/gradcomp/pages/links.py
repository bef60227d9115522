"""docs/results/links.md: steps over links that the kernel shapes, compared with the same steps over links that the program
emulates."""
import dataclasses

from gradcomp.output import text

from .page import Job, Page, Text
from .ranks import asked, shaped, slower

METHODS = ("top_k:ratio=0.01", "powersgd:rank=2", "qsgd:bits=4", "ef_sign:reducer=two_phase", "fp32:reducer=ring")
RATES = (100, 300, 1000)  # Mbit/s
LATENCY = "50us"  # approximate latency of the machine's namespaces
NEAR = 0.10  # if an emulated step differs by more, the page says so


@dataclasses.dataclass(frozen=True)
class Case:
    """What is trained."""

    model: str
    options: tuple
    steps: int


FULL = (Case("resnet20", ("--data", "shapetex10", "--batch", 16), 42),
        Case("lstm_1x96", ("--data", "hmm", "--length", 32, "--batch", 32, "--lr", 2, "--clip", 1), 60))
QUICK = (Case("resnet8", ("--data", "shapetex10:train=64:test=32", "--batch", 4), 6),)


def _train(case):
    return ("gradcomp-train", "--model", case.model, *case.options, "--steps", case.steps, "--evaluate-every", case.steps,
            "--methods", ",".join(METHODS))


def over_emulated(record):
    """{(method, Mbit/s): milliseconds of a step}"""
    return {(row["label"], one["rate_mbit_s"]): one["step_time_ms"]["median"] for row in record.rows for one in row["over_links"]}


def over_shaped(record):
    """{method: milliseconds of a step}"""
    return {row["label"]: row["step_time_ms"]["median"] for row in record.rows}


def table(imitated, real):
    """A line per method, for each rate: the shaped step, the emulated step, and their difference. `real`: {Mbit/s: record}."""
    times, lines = over_emulated(imitated), []
    steps = {rate: over_shaped(record) for rate, record in real.items()}
    for label in dict.fromkeys(label for label, _ in times):
        cells = [f"`{label}`"]
        for rate in real:
            ours, theirs = times[label, rate], steps[rate][label]
            off = ours / theirs - 1
            cells += [text.number(theirs), text.number(ours), f"{100 * off:+.0f} %{'' if abs(off) <= NEAR else ' far'}"]
        lines.append(cells)
    heads = [head for rate in real for head in (f"{rate} Mbit/s: shaped, ms", "emulated, ms", "off")]
    return ["method", *heads], lines


class Links(Page):
    name, tool = "links", "links_page"
    about = "Trains over links that the kernel shapes and over emulated links. Needs root and a quiet machine."
    programs = ("gradcomp-train", "mpirun")
    sources = ("python/gradcomp/links",)

    @staticmethod
    def _shape(options):
        return (QUICK, (2,), RATES[:2]) if options.quick else (FULL, (2, 4), RATES)

    def jobs(self, options):
        cases, counts, rates = self._shape(options)
        found = []
        for case in cases:
            for ranks in counts:
                threads = ("env", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=false")
                idle = ("OMPI_MCA_mpi_yield_when_idle=1", "KOKKOS_DISABLE_WARNINGS=1") if ranks > 2 else ()
                swept = ",".join(f"{rate}Mbit/s" for rate in rates) + f",{LATENCY}"
                found.append(Job(f"{case.model}_{ranks}_emulated", (*threads, *idle, "mpirun", "-n", ranks, *_train(case), "--block",
                                                                    1, "--link", swept), "steps over emulated links"))
                for rate in rates:
                    found.append(Job(f"{case.model}_{ranks}_{rate}mbit", (*shaped(ranks, rate), *_train(case)),
                                     f"steps over links of {asked(ranks, rate)}"))
        return found

    def text(self, records, options):
        cases, counts, rates = self._shape(options)
        out = Text(self, "links", records)
        out.lines += ["What a training step takes over a link that the kernel shapes ([how](../links.md)), and over the same link as "
                      "`--link` emulates it: is the emulation to be believed? One thread a rank, medians. *Off*: emulated over "
                      f"shaped, less one; *far* where that is more than {100 * NEAR:.0f} %. Few steps at one rate of learning: "
                      "**throughput only**.", ""]
        for case in cases:
            for ranks in counts:
                shared = slower(ranks)
                note = "" if shared == 1 else (f" {shared} ranks share a core, so the emulated links are slowed by {shared}, and the "
                                               f"shaped ones have 1 / {shared} of the rate.")
                real = {rate: records[f"{case.model}_{ranks}_{rate}mbit"] for rate in rates}
                out.add(f"{case.model}, {ranks} ranks, throughput only", f"`{case.model}`, {case.steps} steps.{note}",
                        table(records[f"{case.model}_{ranks}_emulated"], real))
        return out.whole()


PAGE = Links()
