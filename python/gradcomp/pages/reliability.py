"""docs/reliability.md: what is lost if a fault comes, counted over faults that are injected into real processes."""
import collections
import pathlib
import tempfile

from gradcomp.faults import clock, disk, interrupts, peers
from gradcomp.faults.trial import BEFORE, GONE, LIMIT, Trial

from .page import UNKNOWN, Job, Page, Text, positive, write_rows

FAULTS = {fault.name: fault for fault in (*interrupts.FAULTS, *disk.FAULTS, *peers.FAULTS, *clock.FAULTS)}
LAUNCHER = ("**A killed launcher of Open MPI leaves a folder in `/tmp`** that is named after its process number. A later launcher with "
            "this number does not start (`prte_session_dir failed: Exists (-14)`): remove `/tmp/prterun.*` of launchers that are gone. "
            "Trials have a folder of their own, because an earlier one could not be started again; its earlier result was whole.")


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


def struck(rows):
    """The trials in which the fault came before the end of the job."""
    return [row for row in rows if row["injected"] != BEFORE]


def lost(rows):
    """What a fault has cost, in words."""
    found = _counted(loss for row in rows for loss in row["lost"])
    parts = sum(bool(row["parts"]) for row in rows)
    return (found or "nothing") + (f"; a hidden temporary file stayed in {parts} trial{'s' if parts > 1 else ''}" if parts else "")


def answer(records):
    """In how many trials something was lost."""
    if not records:
        return UNKNOWN
    rows = [row for record in records.values() for row in struck(record.rows)]
    failed = [row for row in rows if row["lost"]]
    where = sorted({row["name"].split("/")[0] for row in failed})
    return (f"Of {len(rows)} faults of {len(records)} kinds, injected into real processes, {len(failed) or 'none'} cost anything"
            + (f" ({', '.join(f'`{name}`' for name in where)})" if failed else "") + f". After {'the others' if failed else 'them'}, no "
            "result, page or checkpoint was half written or replaced by less, no process was left, no job hung, and every training that "
            "went on or was resumed ended with the bits of one without a fault.")


class Reliability(Page):
    name, tool, complete, home = "reliability", "reliability_page", False, "docs"
    about = "Injects faults into real processes of the programs and tools, and counts what was lost."
    programs = ("gradcomp-train", "gradcomp-allreduce", "gradcomp-bench", "gradcomp-evaluate", "mpirun")
    sources = ("python/gradcomp/faults",)

    def arguments(self, parser):
        parser.add_argument("--only", action="append", choices=FAULTS, metavar="FAULT",
                            help=f"inject this fault; may be given more than once (default: all): {', '.join(FAULTS)}")
        parser.add_argument("--seeds", type=positive, metavar="N", help="number of trials of each fault (default: "
                            f"{', '.join(f'{name} {fault.seeds}' for name, fault in FAULTS.items())}; with --quick: 1 to 3)")

    def names(self, options):
        return list(FAULTS)

    def accepts(self, kept, words):
        return kept[:-1] == words[:-1]  # any number of trials

    def jobs(self, options):
        return [self._job(fault, options.seeds or (fault.few if options.quick else fault.seeds)) for name, fault in FAULTS.items()
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
        out.lines += ["Each trial has a seed, from which a counter-based generator makes the moment and the place of the fault. All "
                      "processes of a trial are known by a variable of their environment, so that none is overlooked. A job hangs if it "
                      f"does not end within {LIMIT} s after the fault, and a process is left if it is there {GONE} s after its job. A "
                      "temporary file is hidden and no result; it may stay where its writer was killed. No trial depends on the "
                      "speed of the machine, which did other work meanwhile.", ""]
        out.lines += [LAUNCHER, ""]
        out.name_missing(self.names(options))
        found = {FAULTS[name]: record.rows for name, record in records.items()}
        out.add("Faults", "*Trials*: those in which the fault came before the end of the job.",
                (["fault", "how it is injected", "trials", "what was lost"],
                 [[f"`{fault.name}`: {fault.title}", fault.means, len(struck(rows)), lost(rows)] for fault, rows in found.items()]))
        out.lines += ["", "## What must hold, and how it went on", "",
                      *(f"- `{fault.name}`: {fault.kept}. {_counted(note for row in struck(rows) for note in row['notes'])}."
                        for fault, rows in found.items()), ""]
        return out.whole()


PAGE = Reliability()
