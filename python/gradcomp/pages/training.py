"""docs/results/training.md, and the base of other pages of named comparisons: methods by training, each at the best of a few
learning rates."""
import argparse
import pathlib
import shutil
import sys
from typing import ClassVar

from gradcomp.errors import ToolError
from gradcomp.output import text
from gradcomp.output.files import write_whole
from gradcomp.report import verdicts
from gradcomp.results.reading import read_rates
from gradcomp.results.records import ROOT, checksum, same_sources

from . import comparisons, training_sections, training_tables, training_verdicts
from .commands import command
from .page import UNKNOWN, Job, Page, Text, write_rows

CHECKPOINT_STEPS = 100


def need_data(run):
    """Makes the file that a run reads, unless it is there."""
    _, path = comparisons.FILES.get(run.task.data if run.task else "", (None, None))
    if path and not (ROOT / path).is_file():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        command("tools/datasets", run.task.data, path)


class List(argparse.Action):
    """An option that names the comparisons of a page and ends the program."""

    def __init__(self, option_strings, dest, listed, **more):
        super().__init__(option_strings, dest, nargs=0, **more)
        self.listed = listed

    def __call__(self, parser, *_):
        for one in self.listed:
            print(f"{one.name:21} {one.title}{'' if one.by_default else ', only when named, or with --all'}")
        sys.exit(0)


class Training(Page):
    name, tool, images, complete = "training", "training_page", True, False
    about = "Trains named comparisons of methods, each at the best of a few learning rates."
    programs = ("gradcomp-methods", "gradcomp-tune", "gradcomp-train", "mpirun")
    title = "training"
    introduction = (
        "Methods of a table train in turn in one job, with the same weights and batches. Mean (low to high): over seeds, with its 95 % "
        "interval. *Behind `fp32`*: the quality that a method loses against `fp32` with the same seed. A method has the *quality of "
        "fp32* if the whole interval of this loss is within the tolerance, and that of its share of the gap to `no_exchange`, whose "
        "ranks train alone, above half ([the rule](../training.md#what-is-compared)). It *misses* this quality if one of the whole "
        "intervals is beyond, and else the *quality* is *open*. The tolerance stands above each table. Speed-ups compare total times of "
        "steps, only where the quality is that of fp32: geometric means, with intervals that hold together for all methods of a run "
        "(Bonferroni's correction), because readers pick the fastest. *Best dense*: the fastest of `fp32`, `fp16` and `bf16`, whatever "
        f"its quality. A figure whose interval spans more than a factor of {text.WIDEST} is *{text.UNMEASURED}*. ")
    to_target: ClassVar[list] = [
        "Seconds and bytes to the target: until the first evaluation that saw it, evaluations not counted.", ""]

    def __init__(self):
        self.comparisons = tuple(one for one in comparisons.COMPARISONS if one.page == self.name)
        self.runs = tuple(run for one in self.comparisons for run in one.runs)

    def answer(self, found):
        """The answer of the page, as Text takes it, from the records with all controls: which methods keep the quality of fp32, and how
        many of them are faster over shared memory."""
        shared = {f"{record.rows[0]['model']}, {record.gradcomp['ranks']} ranks": training_verdicts.trained(record)
                  for record in found if not record.emulated}
        if not shared:
            return (UNKNOWN,)
        every = [one for methods in shared.values() for one in methods.values() if one.compresses and one.matched]
        labels = dict.fromkeys(label for methods in shared.values() for label, one in methods.items() if one.compresses)
        return (f"Over shared memory {sum(verdicts.is_faster(one.gain()) for one in every)} of {len(every)} trainings with a compressed "
                "method that keeps the quality of `fp32` are faster than with the best dense one.",
                (["quality of `fp32`", *shared], [[f"`{label}`", *(training_verdicts.short(methods[label]) if label in methods else
                                                                  text.DASH for methods in shared.values())] for label in labels]))

    def arguments(self, parser):
        names = [one.name for one in self.comparisons]
        parser.add_argument("--only", action="append", choices=names, metavar="NAME",
                            help="train this comparison; may be given more than once (default: all that --list does not mark)")
        parser.add_argument("--all", action="store_true", help="train all comparisons")
        parser.add_argument("--list", action=List, listed=self.comparisons, help="list the comparisons and end")
        parser.add_argument("--rates", type=pathlib.Path, default=pathlib.Path("docs/rates"),
                            help="folder of the tuned rates, with a file for each task (default: %(default)s)")

    def names(self, options):
        tasks = dict.fromkeys(run.task.name for run in self.runs if self._rates(run, options))
        return [*(f"rates_{task}" for task in tasks), *(run.name for run in self.runs)]

    def commands(self, options):
        return {run.name: self._words(run, options) for run in self.runs}  # rates are tuned only for the chosen runs

    def jobs(self, options):
        chosen = [one for one in self.comparisons
                  if options.all or (one.name in options.only if options.only else one.by_default)]
        found = {}
        for one in chosen:
            for run in one.runs:
                rates = self._rates(run, options)
                if rates:
                    same = [other for every in chosen for other in every.runs if other.task == run.task]
                    found.setdefault(rates, self._tuning(same, rates))
                found[run] = self._run(run, one, options)
        return list(found.values())

    def text(self, records, options):
        done = {one: {run: records[run.name] for run in one.runs if run.name in records} for one in self.comparisons}
        done = {one: found for one, found in done.items() if found}
        edges = {}
        for run in (run for found in done.values() for run in found if self._rates(run, options)):
            path = ROOT / self._rates(run, options)
            known = records.get(f"rates_{run.task.name}")
            if known is None or set(known.leaves.values()) != {checksum(path)}:
                raise ToolError(f"'{path}' is not what the record rates_{run.task.name}.json tells of; tools/{self.tool} tunes again")
            edges[run.task.name] = training_tables.at_edge(read_rates(path))
        compared = [record for one, found in done.items() for run, record in found.items() if one.by_default and run.controls]
        out = Text(self, self.title, records, *(self.answer(compared) if compared else [UNKNOWN]))
        out.lines += [self.introduction + training_tables.about_edges(records), ""]
        out.lines += self.to_target if any(run.task and run.task.target for run in self.runs) else []
        out.name_missing([run.name for one in self.comparisons if one.by_default for run in one.runs])
        for one, found in done.items():
            out.lines += training_sections.section(one, found, options.images, options.output.parent, edges)
        return out.whole()

    @staticmethod
    def _rates(run, options):
        """The file of tuned rates of a run, or None if its rate is set by hand."""
        return options.rates / f"{run.task.name}.json" if run.task and run.task.name and not options.quick else None

    def _words(self, run, options):
        return list(map(str, comparisons.command(run, self._rates(run, options), options.quick)))

    @staticmethod
    def _tuning(runs, rates):
        """Tunes the rates of a task. Existing trials are kept unless they are from other sources."""
        words = tuple(map(str, comparisons.tuning(runs, rates)))

        def make(output, built):
            need_data(runs[0])
            path, made_by = ROOT / rates, built.gradcomp["git_hash"]
            path.parent.mkdir(parents=True, exist_ok=True)
            stamp = path.with_suffix(".commit")
            if not (stamp.is_file() and same_sources(stamp.read_text(encoding="utf-8").strip(), made_by)):
                path.unlink(missing_ok=True)
                write_whole(stamp, made_by + "\n")
            command(*words)
            rows = [{"name": method, "lr": rate, "trials": len(tried), "tuning_s": round(sum(tried.values()), 1)}
                    for method, (rate, tried) in read_rates(path).items()]
            write_rows(output, built, rows)
        return Job(f"rates_{runs[0].task.name}", words, "learning rates", (rates,), make=make)

    def _run(self, run, comparison, options):
        """A run of several seeds continues after its last checkpoint."""
        words = tuple(self._words(run, options))

        def checkpoints(built):
            return ROOT / options.folder / f"{run.name}.{built.gradcomp['git_hash']}.checkpoints"

        def make(output, built):
            need_data(run)
            more, folder = [], checkpoints(built)
            if run.seeds > 1 and not options.quick:
                resume = ["--resume", folder] if any(folder.glob("seed*/checkpoint.json")) else []
                more = ["--checkpoint", folder, "--checkpoint-every", CHECKPOINT_STEPS, *resume]
            command(*words, *more, "--output", output)

        def tidy(built):  # removed last: until the record is kept, an interrupted call continues from the checkpoints
            shutil.rmtree(checkpoints(built), ignore_errors=True)
        return Job(run.name, words, comparison.title, make=make, tidy=tidy)


PAGE = Training()
