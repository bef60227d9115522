"""docs/reliability.md: what is lost if a fault comes, counted over faults that are injected into real processes."""
import collections
import pathlib
import tempfile

from gradcomp.faults import clock, disk, interrupts, peers
from gradcomp.faults.trial import Trial
from gradcomp.output import markdown

from .page import UNKNOWN, Job, Page, Text, positive, write_rows

FAULTS = {fault.name: fault for fault in (*interrupts.FAULTS, *disk.FAULTS, *peers.FAULTS, *clock.FAULTS)}
QUICK = 3  # trials of each fault


def try_out(fault, seeds, folder):
    """The rows of all trials of a fault."""
    rows = []
    shared = fault.prepare(_new(folder / "prepared" / "folder"))
    for seed in range(1, seeds + 1):
        trial = Trial(fault.name, seed, _new(folder / str(seed) / "folder"))
        try:
            fault.run(trial, shared)
        finally:
            trial.kill()
        rows.append(trial.row())
        print(f"{fault.name}: {seed} of {seeds}: {trial.injected}: {', '.join(trial.lost) or 'nothing lost'}", flush=True)
    return rows


def _new(folder):
    folder.mkdir(parents=True)
    return folder


def _counted(words):
    """How often each word occurs, as a text."""
    return ", ".join(f"{count} {word}" for word, count in collections.Counter(words).most_common())


def lost(rows):
    """What a fault has cost, in words."""
    found = _counted(loss for row in rows for loss in row["lost"])
    parts = sum(bool(row["parts"]) for row in rows)
    return (found or "nothing") + (f"; hidden temporary files stayed {parts} times" if parts else "")


def answer(records):
    """In how many trials something was lost."""
    if not records:
        return UNKNOWN
    rows = [row for record in records.values() for row in record.rows]
    failed = [row for row in rows if row["lost"]]
    where = sorted({row["name"].split("/")[0] for row in failed})
    return (f"In {len(rows)} trials of {len(records)} kinds of faults, injected into real processes, {len(rows) - len(failed)} lost "
            "nothing: no result, page or checkpoint was half written or replaced by less, no process was left, and no job hung. "
            + (f"{len(failed)} lost something: {', '.join(f'`{name}`' for name in where)}. " if failed else "")
            + "The table has a line for each fault.")


class Reliability(Page):
    name, tool, complete, home = "reliability", "reliability_page", False, "docs"
    about = "Injects faults into real processes of the programs and tools, and counts what was lost."
    programs = ("gradcomp-train", "gradcomp-allreduce", "gradcomp-bench", "gradcomp-evaluate", "mpirun")
    sources = ("python/gradcomp/faults",)

    def arguments(self, parser):
        parser.add_argument("--only", action="append", choices=FAULTS, metavar="FAULT",
                            help=f"inject this fault; may be given more than once (default: all): {', '.join(FAULTS)}")
        parser.add_argument("--seeds", type=positive, metavar="N", help="number of trials of each fault (default: "
                            f"{', '.join(f'{name} {fault.seeds}' for name, fault in FAULTS.items())}; with --quick: {QUICK})")

    def names(self, options):
        return list(FAULTS)

    def accepts(self, kept, words):
        return kept[:-1] == words[:-1]  # any number of trials

    def jobs(self, options):
        return [self._job(fault, options.seeds or (QUICK if options.quick else fault.seeds)) for name, fault in FAULTS.items()
                if name in (options.only or FAULTS) and not fault.why_not()]

    def _job(self, fault, seeds):
        def make(output, built):
            with tempfile.TemporaryDirectory(prefix="faults.") as folder:
                write_rows(output, built, try_out(fault, seeds, pathlib.Path(folder)))
        return Job(fault.name, (f"tools/{self.tool}", "--only", fault.name, "--seeds", seeds), fault.title, make=make)

    def broken(self, records):
        return [f"{name}: {lost(record.rows)}" for name, record in records.items() if any(row["lost"] for row in record.rows)]

    def text(self, records, options):
        out = Text(self, "what faults cost", records, answer(records))
        out.lines += ["Each trial has a seed, from which a counter-based generator makes the moment and the place of the fault. "
                      "All processes of a trial are known by a variable of their environment, so that none is overlooked. "
                      "A temporary file is hidden, is no result, and may stay only where its writer was killed.", ""]
        out.name_missing(self.names(options))
        out.lines += ["## Faults", "", *markdown.table(
            ["", "fault", "how it is injected", "what must hold", "trials", "what was lost", "how it went on"],
            [[f"`{name}`", fault.title, fault.means, fault.kept, len(rows), lost(rows),
              _counted(note for row in rows for note in row["notes"])]
             for name, fault in FAULTS.items() if name in records for rows in [records[name].rows]]), ""]
        return out.whole()


PAGE = Reliability()
