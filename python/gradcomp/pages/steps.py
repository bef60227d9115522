"""docs/results/steps.md: time of a training step of every model, and its share of what the machine can compute."""
from gradcomp.output import text

from .page import Job, Page, Text

ONE = ("env", "OMP_NUM_THREADS=1")


def shares(record):
    """{model: its share of the peak of the process}. A row's own peak, which is measured in a fraction of a second beside it, may be too
    low where another program ran."""
    peak = max(row["gflop_per_second"] / row["sgemm_peak_ratio"] for row in record.rows)
    return {row["name"].split("/")[1]: row["gflop_per_second"] / peak for row in record.rows}


def answer(records):
    """How much of the machine a step uses."""
    said = []
    for record in records:
        found = shares(record)
        low, high = (pick(found, key=found.get) for pick in (min, max))
        said.append(f"{text.percent(found[low])} (`{low}`) to {text.percent(found[high])} (`{high}`) with threads: "
                    f"{record.gradcomp['threads']}")
    return f"A training step uses this part of the rate of float products that its process can reach: {', '.join(said)}."


def table(records):
    """A line per model: for each record the time, the rate and the share of the peak of its process."""
    header, lines = ["model", "batch"], {}
    for record in records:
        threads = record.gradcomp["threads"]
        header += [f"threads: {threads}, ms", "GFLOP/s", "of the peak"]
    for record in records:
        found = shares(record)
        for row in record.rows:
            _, model, batch = row["name"].split("/")
            cells = lines.setdefault(model, [f"`{model}`", batch.removeprefix("batch")])
            cells += [text.number(row["time_ms"]["median"]), text.number(row["gflop_per_second"]),
                      text.percent(found[model])]
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
        out = Text(self, "training steps", records, answer(records.values()))
        out.add("Forward and backward", "One rank, medians; neither update nor exchange. The peak: the largest rate of products of "
                "floats that the same process measured; on a host every thread computes products of its own, whose "
                "matrices fit in its cache. It is a measurement of a fraction of a second and no limit: a peak that was measured "
                "beside other work is too low, and the shares are too high. All products count, also those that Winograd's F(2, 3) "
                "saves, which may raise a share above 100 % as well. Batches: images of 32 x 32; sequences of words or frames.",
                table(records.values()))
        return out.whole()


PAGE = Steps()
