"""docs/results/kokkos-kernels.md: our kernels of low rank and of norms compared with Kokkos Kernels and the host's BLAS."""
from gradcomp.output import text

from .page import Job, Page, Text

OURS = "gradcomp"


def answer(records, native):
    """(in how many cases a library is faster; its time over ours for each operation). `native`: whether ours were compiled for the
    processor."""
    best = {}  # {(operation, model, rank): least ratio}
    for record in records:
        for row in (row for row in record.rows if not row["by"].startswith(OURS)):
            case = row["operation"], record.gradcomp["options"]["model"], row["rank"]
            best[case] = min(row["ratio"], best.get(case, row["ratio"]))
    operations = dict.fromkeys(operation for operation, *_ in best)
    ratios = {name: [ratio for (operation, *_), ratio in best.items() if operation == name] for name in operations}
    return (f"In {sum(ratio < 1 for ratio in best.values())} of {len(best)} cases (operation, model, rank) the fastest of Kokkos "
            "Kernels and BLAS takes less time than our kernel. Our kernels were compiled "
            f"{'for' if native else 'without the vector instructions of'} this processor. The time of the fastest over that of ours:",
            (["operation", "least", "most"], [[name, text.ratio(min(some)), text.ratio(max(some))] for name, some in ratios.items()]))


def table(records):
    """A line per operation and contender: its time / time of our kernel, for every model and rank."""
    columns, lines = [], {}
    for record in records:
        known = record.gradcomp["options"]
        columns += [(known["model"], rank) for rank in known["ranks"]]
        for row in record.rows:
            if row["by"] != OURS:
                lines.setdefault((row["operation"], row["by"]), {})[known["model"], row["rank"]] = text.ratio(row["ratio"])
    return (["operation", "by", *(f"`{model}`, rank {rank}" for model, rank in columns)],
            [[operation, f"`{by}`", *(cells.get(column, text.DASH) for column in columns)]
             for (operation, by), cells in lines.items()])


class KokkosKernels(Page):
    name, tool, preset = "kokkos-kernels", "kokkos_kernels_page", "serial-kk"
    about = "Compares our kernels for low rank and norms with Kokkos Kernels. Needs a build with them and a quiet machine."
    programs = ("gradcomp-bench-kokkos-kernels",)
    asks = ("gradcomp-bench-kokkos-kernels", "--model", "resnet8", "--ranks", 1, "--samples", 1)

    def jobs(self, options):
        models, samples = (("resnet8",), 2) if options.quick else (("resnet20", "resnet18"), 100)
        return [Job(model, ("gradcomp-bench-kokkos-kernels", "--model", model, "--ranks", "1,4", "--samples", samples),
                    f"the matrices of {model}") for model in models]

    def text(self, records, options):
        known = next(iter(records.values())).gradcomp
        out = Text(self, "beside Kokkos Kernels", records, *answer(records.values(), known["native_arch"]))
        out.add("Times over those of our kernels", f"Below 1 the library is faster. {known['blas']}. All contenders in turn, medians; "
                "every answer verified. *project* is P = M Q, *project back* Q = M^T P; *fed back* adds the residual first. *norm* is "
                "that of the whole gradient; ours is the sum for clipping, in double.", table(records.values()))
        return out.whole()


PAGE = KokkosKernels()
