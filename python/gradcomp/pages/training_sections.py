"""docs/results/training.md: the sections, one for each comparison, with their figures."""
import os

import matplotlib.pyplot as plt

from gradcomp.output import markdown
from gradcomp.results.provenance import commit

from . import training_tables

SEPARATED = ("resnet20", "lstm", "full")
MOST_LINES = 16  # largest number of lines that can be distinguished in a figure


def section(chosen, records, images, folder, edges):
    """The lines of a comparison; also writes its figures. `records`: {run: record}; `folder`: that of the page; `edges`: {task:
    methods whose tuned rates are marked}."""
    lines = [f"## {chosen.title}", "", chosen.note, ""]
    for run, record in records.items():
        if chosen.name == "bars":
            continue
        if run.task is None:
            lines += ["ResNet-18 on CIFAR-10 with 16 workers, as published:", "",
                      *markdown.table(*training_tables.epochs(record)), ""]
            continue
        row, options = record.rows[0], record.gradcomp["options"]
        source = f"tuned, `docs/rates/{run.task.name}.json`" if options["tuned"] else "set by hand"
        skew = f" with `--skew {options['skew']:g}`" if options["skew"] else ""
        lines += [f"`{row['model']}` on `{run.task.data}`{skew}, {record.link}, batch {row['batch_per_rank']} per rank, "
                  f"{row['steps']} steps; rates {source}; {commit(record)}.", "",
                  *markdown.table(*training_tables.methods(record, edges.get(run.task.name, ()))), ""]
        swept = training_tables.over_links(record)
        if swept:
            lines += [*markdown.table(*swept), ""]
        if chosen.name.startswith(SEPARATED):
            lines += [*markdown.table(*training_tables.separations(record)), ""]
        if chosen.name == "sparsifiers":
            lines += [*markdown.table(*training_tables.throughputs(record)), ""]
        if len(run.methods) > MOST_LINES or run.task.evaluations == 1:
            continue
        image = images / f"training_{run.name}.svg"
        figure, alternative = training_tables.curves(record)
        figure.savefig(image, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
        lines += [f"![{alternative}]({os.path.relpath(image, folder)})", ""]
    swept = [record for run, record in records.items() if run.links > 1]
    if len(swept) > 1:
        lines += [*markdown.table(*training_tables.crossovers(swept)), ""]
    if chosen.name == "bars":
        limits = {run.name: run.bar for run in chosen.runs}
        lines += [*markdown.table(*training_tables.bars({run.name: r for run, r in records.items()}, limits)), ""]
    return lines
