"""ReFrame checks: the reduction over a link, compressors on one rank, training steps. Each program verifies its own answers.
Its figures are held against the system's references, and only reported where there are none."""
import pathlib

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, run_before, sanity_function, variable
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger

from gradcomp.errors import ToolError
from gradcomp.slurm import chosen, figures, references

METHODS = "top_k:ratio=0.01,qsgd:bits=4,powersgd:rank=4"
NODES = chosen.expected()[0]


class Check(rfm.RunOnlyRegressionTest):
    """One program, one record."""

    valid_systems, valid_prog_environs = ["*"], ["*"]
    sourcesdir = None
    time_limit = "20m"
    methods = variable(str, value=METHODS)
    ranks_per_node = chosen.system().number("RANKS_PER_NODE")

    def words(self):
        """The options of the program, by the variables of the check."""
        raise NotImplementedError

    @run_after("init")
    def shape(self):
        """As many ranks as a sweep has on these nodes."""
        self.num_tasks, self.num_tasks_per_node = self.nodes * self.ranks_per_node, self.ranks_per_node
        self.num_cpus_per_task = chosen.system().number("CPUS_PER_RANK")
        # ReFrame does not ask for the exit status, and squeue does not know it: the job says it.
        self.postrun_cmds = ['status=$?; echo "gradcomp exit status $status"; (exit $status)']
        self.keep_files = ["out.json"]

    @run_before("run")
    def program(self):
        """Its call."""
        self.executable_opts = [*self.words(), "--output", "out.json"]

    @sanity_function
    def verified(self):
        """The program ended well, verified its answers, and has all figures that have a reference."""
        stage = pathlib.Path(self.stagedir)
        said = (stage / str(self.stdout)).read_text(encoding="utf-8", errors="replace")
        expected = chosen.expected()[1].get((self.check, self.nodes), {})
        place = f"{references.path_of(chosen.path())}: [{self.check}.n{self.nodes}]"
        try:
            self.found = self.figures_of(figures.read_record(stage / "out.json", said, self.executable))
        except ToolError as refused:
            raise SanityError(str(refused)) from refused
        for name, reference in expected.items():
            if name not in self.found:
                raise SanityError(f"{place} {name}: no such figure: allowed are {', '.join(self.found)}")
            if reference[3] != self.found[name][1]:
                raise SanityError(f"{place} {name}: unit = '{reference[3]}': allowed is '{self.found[name][1]}'")
        without = [name for name in self.found if name not in expected]
        if without:
            getlogger().warning(f"{place} has no reference: reported, not judged: {', '.join(without)}")
        self.reference = {chosen.system().name: expected}
        return True

    @run_before("performance")
    def judge(self):
        """Hands all figures to ReFrame."""
        self.perf_variables = {name: sn.make_performance_function(sn.defer(value), unit)
                               for name, (value, unit) in self.found.items()}


class Parallel(Check):
    """Over several ranks: on one, nothing is exchanged."""

    nodes = parameter(NODES)

    @run_after("init")
    def several_ranks(self):
        """Leaves the check out where there is one rank."""
        self.skip_if(self.num_tasks < 2, "one rank exchanges nothing: RANKS_PER_NODE is 1")


@rfm.simple_test
class Allreduce(Parallel):
    """The reduction alone: bus bandwidth of the dense control, and time of methods over that of the best dense control."""

    check, figures_of = "Allreduce", staticmethod(figures.allreduce)
    executable = "gradcomp-allreduce"
    sizes = variable(str, value="65536,16777216")
    repetitions = variable(int, value=30)

    def words(self):
        return ["--methods", f"fp32,fp16,bf16,{self.methods}", "--sizes", self.sizes, "--repetitions", str(self.repetitions)]


@rfm.simple_test
class Compress(Check):
    """Compressors on one rank: throughput as a fraction of the rate at which the same bytes are only read."""

    check, figures_of = "Compress", staticmethod(figures.compress)
    executable = "gradcomp-bench"
    nodes, ranks_per_node = 1, 1
    sizes = variable(str, value="16777216")
    samples = variable(int, value=20)

    def words(self):
        return ["--methods", self.methods, "--sizes", self.sizes, "--samples", str(self.samples), "--filter", "^compress/"]


@rfm.simple_test
class Step(Parallel):
    """A short training: step time of methods over that of the best dense control."""

    check, figures_of = "Step", staticmethod(figures.step)
    executable = "gradcomp-train"
    model = variable(str, value="resnet20")
    data = variable(str, value="shapetex10")
    batch = variable(int, value=64)
    steps = variable(int, value=100)

    def words(self):
        return ["--methods", self.methods, "--model", self.model, "--data", self.data, "--batch", str(self.batch), "--steps",
                str(self.steps), "--evaluate-every", str(self.steps)]
