"""Tests one commit against the good commit: builds it in a work tree and measures one case, by instructions or by times."""
import re

from gradcomp.errors import ToolError
from gradcomp.gate import comparable, counting, decide, exact, interleave, samples
from gradcomp.json_files import read_json

from . import nights, repository
from .building import Unbuildable, build

INSTRUCTIONS, TIMES = "instructions", "times"
PRESETS = {INSTRUCTIONS: "serial-kk", TIMES: "openmp"}  # as tools/check_deterministic counts and as the gate measures


class WrongBuild(ToolError):
    """The program was built from another commit than intended, so no answer of this bisection can be trusted."""


class Trials:
    """One work tree for the good commit and one for all others. The others are built one after the other, so each build reuses
    the last one."""

    def __init__(self, options, arguments, folder, trees):
        self.options, self.arguments, self.folder, self.trees, self.measured = options, arguments, folder, trees, 0
        self.chosen = re.compile(f"^{re.escape(options.case)}$")

    def _program(self, tree, commit):
        repository.git(self.trees[tree], "checkout", "--detach", "--force", commit)
        build(self.options.build, self.trees[tree], self.folder / "build.log")
        try:
            return interleave.find_program(self.trees[tree] / self.options.program)
        except ToolError as error:
            raise Unbuildable(str(error)) from error

    def _file(self):
        self.measured += 1
        return self.folder / f"{self.measured:04d}.json"

    def _process(self, program, commit, path, counted=False):
        """Runs one process, whose result must be of that commit and hold the case. Throws Unbuildable."""
        try:
            if counted:
                counting.count(program, self.arguments, path)
                process = samples.read_process(path, self.chosen)
            else:
                process = interleave.run_process(program, self.arguments, path, self.chosen)
        except ToolError as error:
            raise Unbuildable(str(error)) from error
        built = process.record.gradcomp["git_hash"]
        if not commit.startswith(built) and not built.startswith(commit):
            raise WrongBuild(f"the build of commit {commit[:12]} calls itself {built}: --build '{self.options.build}' did not "
                             "build the work tree that it was started in")
        return process

    def _count(self, program, commit):
        process = self._process(program, commit, self._file(), counted=True)
        found = process.cases[self.options.case].exact.get("instructions")
        if found is None:
            raise Unbuildable(f"instructions of {self.options.case} were not counted")
        return found

    def start(self, good):
        """Builds the good commit. Throws Unbuildable."""
        self.good, self.program = good, self._program("good", good)
        if self.options.by == INSTRUCTIONS:
            self.count = self._count(self.program, good)

    def slower(self, commit):
        """(answer, words) of a commit against the good one: True for slower, False for not slower, None for unknown."""
        try:
            program = self._program("other", commit)
            return self._by_instructions(program, commit) if self.options.by == INSTRUCTIONS else (
                self._by_times(program, commit))
        except WrongBuild:
            raise
        except (Unbuildable, ToolError) as error:  # also a commit whose results cannot be compared with those of the good one
            return None, str(error)

    def _by_instructions(self, program, commit):
        found = self._count(program, commit)
        change = exact.judged(self.options.case, "instructions", self.count, found)
        return bool(change and change.regression), f"{found:,} instructions where the good one takes {self.count:,}"

    def _by_times(self, program, commit):
        commits = {self.program: self.good, program: commit}

        def run(chosen, _):
            return self._process(chosen, commits[chosen], self._file())
        rules = decide.Rules(seed=self.options.seed)
        arms = interleave.run_arms({"A": self.program, "B": program}, self.options.processes, run, rules.seed,
                                   comparable.check)
        for arm in arms:
            comparable.check_arm(arm, rules.minimum)
        good, bad = arms
        comparable.check(good, bad)
        [result] = decide.compare(good, bad, False, rules, [self.options.case]).results
        told = {decide.REGRESSION: True, decide.OK: False, decide.FASTER: False}.get(result.verdict)
        ratio = f"{result.ratio:.3f} times the good one's time" if result.ratio else "not judged"
        return told, f"{ratio}: {result.verdict}" + (f", {result.reason}" if result.reason else "")


def bench_arguments(night, case, by):
    """Options of gradcomp-bench that measure only this case, as the night did. Throws ToolError."""
    path = night.folder / nights.COUNTS if by == INSTRUCTIONS else night.folder / nights.TIMES / "001.json"
    if not path.exists():
        raise ToolError(f"night {night.name} has no {by}; choose the other one with --by")
    document = read_json(path)
    rows = {row["name"]: row for row in document["benchmarks"]}
    if case not in rows:
        raise ToolError(f"night {night.name} has no case '{case}'; it has {', '.join(sorted(rows))}")
    operation, method = case.split("/")[:2]
    words = ["--sizes", str(rows[case]["elements"]), "--filter", f"^{re.escape(case)}$"]
    if operation in ("compress", "decompress", "pair"):
        words += ["--methods", method]
    options = document["context"]["gradcomp"]["options"]
    for name in ("samples", "seed", "residual", "cache"):
        if options.get(name):
            words += [f"--{name}", str(options[name])]
    return words

