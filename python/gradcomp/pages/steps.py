"""docs/results/steps.md: time of a training step of every model, and its share of what the machine can compute."""
from gradcomp.output import text

from .page import Job, Page, Text

ONE = ("env", "OMP_NUM_THREADS=1")


def table(records):
    """A line per model: for each record the time, the rate and the share of the rate of one large product."""
    header, lines = ["model", "batch"], {}
    for record in records:
        threads = record.gradcomp["threads"]
        header += [f"threads: {threads}, ms", "GFLOP/s", "of the peak"]
    for record in records:
        for row in record.rows:
            _, model, batch = row["name"].split("/")
            cells = lines.setdefault(model, [f"`{model}`", batch.removeprefix("batch")])
            cells += [text.number(row["time_ms"]["median"]), text.number(row["gflop_per_second"]),
                      text.percent(row["sgemm_peak_ratio"])]
    return header, list(lines.values())


class Steps(Page):
    name, tool = "steps", "steps_page"
    about = "Measures the training step of every model, without an exchange. Needs a quiet machine."
    programs = ("gradcomp-bench", "gradcomp-train")

    def jobs(self, options):
        samples, filtered = (1, "^train_step/(resnet20|lstm_1x128)/") if options.quick else (15, "^train_step/")
        bench = ("gradcomp-bench", "--samples", samples, "--filter", filtered)
        return [Job("threads_1", (*ONE, *bench), "steps of one thread"), Job("threads_all", bench, "steps of all threads")]

    def text(self, records, options):
        out = Text(self, "training steps", records)
        out.add("Forward and backward", "One rank, medians; neither update nor exchange. The peak: the rate of one large product "
                "of floats, measured by the same program. All products count, also those that Winograd's F(2, 3) saves, so a "
                "share can exceed 100 %. Batches: images of 32 x 32; sequences of words or frames.", table(records.values()))
        return out.whole()


PAGE = Steps()
