"""docs/results/kernels.md: compress and decompress of one method of each family on one thread, beside the time in which the same
program moves the bytes that the method must move, and a card of the machine."""
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
    about = "Compares one method of each family on one thread with the limit of memory, and describes the machine; it must be quiet."
    programs = ("gradcomp-bench", "gradcomp-allreduce", "gradcomp-train", "mpirun")

    def jobs(self, options):
        size = QUICK if options.quick else FULL
        sizes = f"{size.small},{size.large}"
        bench = ("gradcomp-bench", "--samples", size.samples, "--sizes", sizes)
        methods = ",".join(line.spec for line in kernels_tables.LINES)
        return [
            Job("pairs", (*ONE, *bench, "--methods", methods, "--filter", "^(pair|read|write|update)/", "--interleave"),
                "compress and decompress, one thread, cases in turn"),
            Job("machine_1", (*ONE, *bench, "--machine"), "what the machine allows one thread"),
            Job("machine", (*bench, "--machine"), "what it allows all threads"),
            Job("link", (*RANKS, "gradcomp-allreduce", "--methods", "fp32", "--sizes", f"256,{sizes}", "--repetitions",
                         size.samples), "what two ranks exchange")]

    def text(self, records, options):
        size = QUICK if options.quick else FULL
        out = Text(self, "kernels", records, *kernels_tables.answer(records["pairs"], size.large))
        out.add("Compress and decompress, throughput only", "One thread, warm, on synthetic gradients that change from call to call; "
                "every answer verified. *Pair*: the median time of compress and decompress together; what an exchange would do is left "
                "out. *Arrays that must move*: how often the method reads, writes or updates (reads and writes back) an array of the "
                "length of the gradient, as its source declares; with the threshold of the step before, where there is one. *Limit*: "
                "the time in which the same program, in turn with the pairs, moves these arrays and the message by loads, stores and "
                "prefetches alone. *x read*: the pair over one read of the gradient. *NMSE*: squared distance of what a first step "
                "decodes from the gradient, over the squared length of the gradient; these speeds say nothing of the quality of a "
                "training. `sign` loses the scale: its "
                f"NMSE is that of +-1. {size.small:,} elements lie in the cache, where instructions are the limit: *instructions an "
                "element* are those of compress and decompress of 16,384 elements with the defaults of the method, counted in the "
                "portable build ([baseline](../baselines/deterministic/README.md)).",
                kernels_tables.table(records["pairs"], size.large, size.small, kernels_tables.instructions()))
        out.add("The machine", "GB/s of the bytes that are read and written (update, copy: 2, triad: 3 floats an element).",
                kernels_tables.card([(records[name].gradcomp["threads"], records[name]) for name in ("machine_1", "machine")]))
        out.add("Its link", f"A dense allreduce, {records['link'].link}, one thread each.", kernels_tables.link(records["link"]))
        return out.whole()


PAGE = Kernels()
