"""docs/results/gate.md: the gate itself on this machine: one build against itself, quiet and beside other work, and against
builds whose kernel does more work; how often it finds what, simulated for known noise; whether it did what it promises."""
import argparse
import contextlib
import dataclasses
import os
import pathlib
import statistics
import tempfile

from scipy.stats import beta, binom

from gradcomp.errors import ToolError
from gradcomp.gate import experiments
from gradcomp.gate.interleave import find_program
from gradcomp.output import markdown, text
from gradcomp.results.records import ROOT

from . import slower
from .page import Job, Page, Text, positive, write_rows

BENCH = "--methods top_k,qsgd --sizes 262144 --samples 40 --filter (compress|decompress)/(top_k|qsgd)/|kernel/count_above/"
CLAIMED = 15.0  # slow-down in per cent that hardly ever passes, and that is found if the A/A spread stays below experiments.QUIET
ERRORS = 0.01  # share of wrong answers that the gate allows itself
DOUBT = 0.05  # a promise is broken if so many wrong answers are less probable than this
SIMULATED = "simulated"


@dataclasses.dataclass
class Experiment:
    """Comparisons of one kind: the exit status and the bound of the A/A spread of each."""

    title: str
    slowdown: float  # per cent
    statuses: list
    spreads: list
    ratios: list
    seconds: float = 0

    def cells(self):
        return [self.title, text.ratio(statistics.median(self.ratios)), len(self.statuses),
                *(self.statuses.count(status) for status in (0, 1, 3)), text.percent(min(self.spreads)),
                text.percent(max(self.spreads)), f"{self.seconds / 60:.1f}"]


def too_many(wrong, trials, lines=1):
    """Whether so many wrong answers show that their share is above ERRORS. `lines`: how many such questions are asked."""
    return binom.sf(wrong - 1, trials, ERRORS) < DOUBT / lines


def most(wrong, trials):
    """The largest share of wrong answers with which so few of them, or fewer, have a probability of DOUBT (Clopper and Pearson)."""
    return 1.0 if wrong == trials else beta.ppf(1 - DOUBT, wrong + 1, trials - wrong)


def _found(wrong, trials):
    return f"{wrong} of {trials}, so below {100 * most(wrong, trials):.2g} % with 95 % confidence"


def claims(done, simulated):
    """[(what the gate promises, whether these experiments leave it standing, what they found)]. `simulated`: the row of the
    simulation."""
    slowed = [pair for one in done if one.slowdown >= CLAIMED
              for pair in zip(one.statuses, one.spreads, strict=True)]
    passed = [status for status, _ in slowed].count(0)
    same = [status for one in done if not one.slowdown for status in one.statuses]
    place, trials, rows = simulated["header"].index("slower: ok"), simulated["trials"], simulated["rows"]
    missed = [round(float(row[place].removesuffix(" %")) / 100 * trials) for row in rows]
    quiet = [status for status, spread in slowed if spread < experiments.QUIET]
    return [(f"A case that is {CLAIMED:g} % slower passes at most once in a hundred times: comparisons on this machine",
             not too_many(passed, len(slowed)), _found(passed, len(slowed))),
            ("The same: every line of the simulation", not any(too_many(count, trials, len(rows)) for count in missed),
             f"at worst {_found(max(missed), trials)}"),
            ("A slow-down of so much ends with exit status 1 whenever the A/A spread of the slowed cases stays below "
             f"{100 * experiments.QUIET:g} % (its bound)",
             all(status == 1 for status in quiet), f"{quiet.count(1)} of {len(quiet)}"),
            ("A build compared with itself, quiet or loaded, ends with exit status 1 at most once in a hundred times",
             not too_many(same.count(1), len(same)), _found(same.count(1), len(same)))]


def answer(done, broken):
    """What the gate finds and what it lets pass. `broken`: how many of its promises the experiments contradict."""
    slowed, same = ([one for one in done if bool(one.slowdown) == slower] for slower in (True, False))
    said = [f"{one.statuses.count(1)} of {len(one.statuses)} with {one.slowdown:g} % more" for one in slowed]
    equal = [status for one in same for status in one.statuses]
    return (f"The gate called {equal.count(1)} of {len(equal)} comparisons of a build with itself a regression. With a build whose "
            f"kernel does more work it called {', '.join(said)}. These experiments contradict {broken or 'none'} of its promises.")


def experiment(record):
    """Of a record."""
    rows = record.rows
    return Experiment(rows[0]["title"], rows[0]["slowdown"], [row["status"] for row in rows],
                      [row["spread_bound"] for row in rows], [row["ratio"] for row in rows], record.seconds)


class Gate(Page):
    name, tool = "gate", "gate_experiments"
    about = "Tests the gate itself on this machine: exit status 1 if it does not do what it promises. Needs a quiet machine."

    def arguments(self, parser):
        add = parser.add_argument
        add("build", nargs="?", type=pathlib.Path, default=ROOT / "build/openmp", help="build folder (default: build/openmp)")
        add("--repeats", type=positive, help="number of comparisons of the build with itself, each on the loaded and on the "
            "quiet machine (default: 10; with --quick: 1)")
        add("--injected", type=positive, help="number of comparisons per slower build (default: 5; with --quick: 1)")
        add("--slowdowns", type=lambda words: [positive(word) for word in words.split(",")], metavar="PERCENT,...",
            help="how much more work the kernel does in each slower build (default: 25,15,5; with --quick: 15)")
        add("--slower", type=lambda words: words.split(","), metavar="BUILD,...",
            help="the slower builds, one for each of --slowdowns (default: made from a copy of the sources of the build)")
        add("--case", default="^kernel/count_above/", help="regular expression of the cases that are slower (default: "
            "%(default)s)")
        add("--processes", type=positive, default=10, help="number of processes of the new build (default: %(default)s)")
        add("--trials", type=positive, help="number of simulated comparisons (default: 400; with --quick: 2)")
        add("--bench-args", default=BENCH, metavar="'ARGUMENTS'", help="arguments for gradcomp-bench (default: %(default)s)")

    def check(self, options):
        options.repeats = options.repeats or (1 if options.quick else 10)
        options.injected = options.injected or (1 if options.quick else 5)
        options.trials = options.trials or (2 if options.quick else 400)
        options.slowdowns = options.slowdowns or ([15] if options.quick else [25, 15, 5])
        if options.slower and len(options.slower) != len(options.slowdowns):
            raise argparse.ArgumentTypeError(f"--slower has {len(options.slower)} builds, --slowdowns {len(options.slowdowns)}")
        if options.page:
            return
        try:
            options.program = find_program(options.build)
            options.slower = [find_program(build) for build in options.slower or ()]
        except ToolError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        variables = (f"{name}={value}" for name, value in experiments.ENVIRONMENT.items())  # those of the comparisons
        self.asks = ("env", *variables, options.program, "--machine", "--sizes", 1024, "--samples", 1)

    def jobs(self, options):
        same = ("tools/gate_experiments", "--processes", options.processes, "--bench-args", options.bench_args)
        found = [Job(f"slower_{percent}", (*same, "--slowdowns", percent, "--injected", options.injected, "--case", options.case),
                     f"+{percent} %", make=self._compare(options, f"+{percent} %", percent)) for percent in options.slowdowns]
        found += [Job(name, (*same, "--repeats", options.repeats), title, make=self._compare(options, title, 0))
                  for name, title in (("loaded", "A/A, loaded"), ("quiet", "A/A, quiet"))]

        def simulate(output, built):
            header, rows = experiments.power(options.trials, experiments.NOISES)
            write_rows(output, built, [{"name": SIMULATED, "header": header, "rows": rows, "trials": options.trials}])
        return [*found, Job(SIMULATED, ("tools/gate_experiments", "--trials", options.trials), "simulated", make=simulate)]

    @staticmethod
    def _new_arm(options, percent, built, folder):
        """The program that is compared, while the block runs."""
        if not percent:
            return contextlib.nullcontext(options.program)
        if options.slower:
            return contextlib.nullcontext(options.slower[options.slowdowns.index(percent)])
        return slower.built(percent, built.gradcomp["git_hash"], folder)

    def _compare(self, options, title, percent):
        """The `make` of a job: runs the comparisons of one experiment."""
        count, case = (options.injected, options.case) if percent else (options.repeats, "")

        def make(output, built):
            rows = []
            with tempfile.TemporaryDirectory(prefix="gate-experiments.") as name:
                folder = pathlib.Path(name)
                busy = experiments.load(len(os.sched_getaffinity(0)) if "loaded" in title else 0)
                with self._new_arm(options, percent, built, folder) as other, busy:
                    for number in range(1, count + 1):
                        print(f"{title}: {number} of {count}", flush=True)
                        status, made = experiments.compare(options.program, other, options.processes, options.bench_args, number,
                                                           folder)
                        rows.append({"name": f"{title}/{number}", "title": title, "slowdown": percent, "status": status,
                                     "ratio": experiments.measured(made, case), "spread_bound": experiments.spread(made, case),
                                     "cases": len(made["cases"]),
                                     "processes": [len(made[arm]["processes"]) for arm in ("baseline", "new")]})
            write_rows(output, built, rows)
        return make

    def broken(self, records):
        return [what for what, held, _ in claims(self._done(records), records[SIMULATED].rows[0]) if not held]

    @staticmethod
    def _done(records):
        return [experiment(record) for name, record in records.items() if name != SIMULATED]

    def text(self, records, options):
        done, made, simulated = self._done(records), records["quiet"].rows[0], records[SIMULATED].rows[0]
        before, after = made["processes"]
        promises = claims(done, simulated)
        out = Text(self, "the gate", records, answer(done, sum(not held for _, held, _ in promises)))
        variables = " ".join(f"{name}={value}" for name, value in experiments.ENVIRONMENT.items())
        out.lines += [f"{made['cases']} cases, processes: {before} and {after}, each with `{variables}`; "
                      f"`--bench-args '{options.bench_args}'`.", ""]
        lines = [[what, "not contradicted" if held else "does not hold", found] for what, held, found in promises]
        out.lines += ["## What the gate promises", "", *markdown.table(["promise", "by these experiments", "failures, or successes"],
            lines), "", "*At most once in a hundred times* does not hold if so many failures would have a probability below "
            f"{100 * DOUBT:g} % (binomial, divided by the number of lines of the simulation). Few comparisons cannot show that it "
            "holds: the last column has the share of failures that they exclude.", ""]
        out.add("On this machine", "A/A: the build against itself; loaded: while as many processes as there are CPUs compute "
                "beside it. Slower builds have a kernel that does so much more work (`count_above` counts some tiles twice), "
                f"which is the case that `{options.case}` matches. *Measured*: new time over old, the median. Bounds are those of "
                "the case that has the largest (of the slowed ones, if any).",
                (["experiment", "measured", "comparisons", "exit 0: no regression", "exit 1: regression", "exit 3: inconclusive",
                  "least bound of the A/A spread", "largest bound", "minutes"], [one.cells() for one in done]))
        out.add("Simulated", f"One of {experiments.CASES} cases, 20 and 10 processes, log-normal times, {simulated['trials']} "
                "comparisons a line. The verdict of the case without a change, and slower by 15 %; the last column: share of the "
                "slower ones that were not called although the bound of their A/A spread was below 5 %.",
                (simulated["header"], simulated["rows"]))
        return out.whole()


PAGE = Gate()
