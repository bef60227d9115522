"""docs/results/kernels.md: compress and decompress of one method of each family on one thread, with the bar that it must meet,
and a card of the machine."""
import dataclasses

from . import kernels_tables
from .page import Job, Page, Text

ONE = ("env", "OMP_NUM_THREADS=1")
RANKS = ("env", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=false", "mpirun", "-n", 2)


@dataclasses.dataclass
class Size:
    """The size of the measurement."""

    large: int
    small: int  # in the cache
    samples: int


FULL = Size(25_500_000, 270_000, 15)
QUICK = Size(70_000, 1000, 2)


class Kernels(Page):
    name, tool = "kernels", "kernels_page"
    about = "Compares one method of each family on one thread with its target, and describes the machine. Needs a quiet machine."
    programs = ("gradcomp-bench", "gradcomp-allreduce", "gradcomp-train", "mpirun")

    def jobs(self, options):
        size = QUICK if options.quick else FULL
        sizes = f"{size.small},{size.large}"
        bench = ("gradcomp-bench", "--samples", size.samples, "--sizes", sizes)
        methods = ",".join(line.spec for line in kernels_tables.LINES)
        return [
            Job("pairs", (*ONE, *bench, "--methods", methods, "--filter", "^pair/", "--interleave"),
                "compress and decompress, one thread, cases in turn"),
            Job("machine_1", (*ONE, *bench, "--machine"), "what the machine allows one thread"),
            Job("machine", (*bench, "--machine"), "what it allows all threads"),
            Job("link", (*RANKS, "gradcomp-allreduce", "--methods", "fp32", "--sizes", f"256,{sizes}", "--repetitions",
                         size.samples), "what two ranks exchange")]

    def text(self, records, options):
        size = QUICK if options.quick else FULL
        out = Text(self, "kernels", records, *kernels_tables.answer(records["pairs"], size.large))
        out.add("Compress and decompress, throughput only", "One thread, warm, on a synthetic gradient; every answer verified. "
                "*Pair*: the median time of compress and decompress together, over the time in which the same program reads "
                "the same gradient once, taken in turn; what an exchange would do is left out. *Bar*: the most that the pair "
                "may take on the large gradient; the bars were set when a read was measured in one stream, which is slower than "
                f"the present four. {kernels_tables.cost_of_copy(records['machine_1'], size.large)} "
                "*NMSE*: squared distance of what a first step decodes from the gradient, "
                "over the squared length of the gradient; these speeds say nothing of the quality of a training. `sign` loses "
                "the scale: its NMSE is that of +-1. The small gradient lies in the cache, where a read is several times faster: "
                "its bar is a rate, 5 G elements a second for one pass with little arithmetic, 2 G for all others; where it is "
                "missed, *in the way* names the work beside reading the gradient and writing the output, as the "
                "code does it; how long it takes was not measured. The methods run without "
                "feedback where their name says so, otherwise with their default.",
                kernels_tables.table(records["pairs"], size.large, size.small))
        out.add("The machine", "GB/s of the bytes that are read and written (copy: 2, triad: 3 floats an element).",
                kernels_tables.card([(records[name].gradcomp["threads"], records[name]) for name in ("machine_1", "machine")]))
        out.add("Its link", f"A dense allreduce, {records['link'].link}, one thread each.", kernels_tables.link(records["link"]))
        return out.whole()


PAGE = Kernels()
