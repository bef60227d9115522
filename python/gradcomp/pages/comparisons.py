"""The named comparisons of the pages that train, from comparisons.toml, and the commands that measure them."""
import dataclasses
import pathlib
import tomllib

from gradcomp.errors import ToolError

TABLE = pathlib.Path(__file__).with_name("comparisons.toml")
# Data that tools/datasets makes, by its name there: (kind of --data, file).
FILES = {"kjv": ("kjv", pathlib.Path("build/data/kjv.txt")), "letters": ("gcds", pathlib.Path("build/data/letters.gcds"))}


@dataclasses.dataclass(frozen=True)
class Task:
    """The data set, the model and the options of training. All runs of a task take their rates from docs/rates/NAME.json."""

    name: str  # without a name, runs use the rate of --lr
    data: str  # a name of FILES, or a value of --data
    options: tuple
    batch: int  # batch over all ranks
    steps: int
    evaluations: int
    target: str
    tuning_steps: int = 0  # steps of a trial; 0: `steps`
    middles: tuple = ()  # (method, middle of the rates that are tried for it), if it is not the rate of `options`

    def specs(self, methods):
        """The method specs as the command line takes them."""
        middles = dict(self.middles)
        return [f"{spec}:lr={middles[spec]}" if spec in middles else spec for spec in methods]


@dataclasses.dataclass(frozen=True)
class Run:
    """One command, one result file; without a task it only counts the bytes of `options`."""

    name: str
    task: Task | None
    methods: tuple
    ranks: int = 2
    seeds: int = 3
    controls: bool = False  # adds fp32, fp16, bf16 and no_exchange to the methods
    options: tuple = ()
    link: str = ""  # emulated; several links take turns, a block of steps each
    period: int = 1  # longest period of its local strategies, which divides steps, blocks and intervals of evaluations
    bar: tuple | None = None  # (metric, value that fp32 must reach, source of this value)

    @property
    def links(self):
        """How many links take turns."""
        return max(1, self.link.count("bit/s"))


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A section of the page."""

    name: str
    title: str
    note: str
    runs: tuple
    by_default: bool = True
    page: str = "training"  # the page of which it is a section


def _specs(lists, words):
    """The methods that `words` name; a list takes the place of its name."""
    found = []
    for word in words:
        found += _specs(lists, lists[word[1:]]) if word.startswith("@") else [word]
    return tuple(found)


def _task(tables, name):
    table = dict(tables[name])
    if "like" in table:
        table = tables[table.pop("like")] | table
    middles = tuple(table.pop("middles", {}).items())
    return Task(**table | {"options": tuple(table["options"]), "middles": middles})


def _run(lists, tasks, table):
    made = table | {"task": tasks[table["task"]] if "task" in table else None, "methods": _specs(lists, table["methods"]),
                    "options": tuple(table.get("options", ()))}
    if "bar" in table:
        [(metric, limit)] = [pair for pair in table["bar"].items() if pair[0] != "of"]
        made["bar"] = (metric, limit, table["bar"]["of"])
    return Run(**made)


def read(path):
    """({name: Task}, all Comparisons, in order). Throws ToolError."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        tasks = {name: _task(content["tasks"], name) for name in content["tasks"]}
        found = []
        for table in content["comparison"]:
            runs = tuple(_run(content["methods"], tasks, run) for run in table.pop("run"))
            found.append(Comparison(**table, runs=runs))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ToolError(f"'{path}' is not a table of comparisons: {error}") from error
    return tasks, tuple(found)


TASKS, COMPARISONS = read(TABLE)


def find(name):
    """The comparison with this name, or None."""
    return next((comparison for comparison in COMPARISONS if comparison.name == name), None)


# Options, each with a value, that only results need.
RESULTS = {"--evaluate-every", "--target", "--block", "--quality-tolerance"}


def _interval(task, steps, period):
    """Steps between evaluations: a multiple of the period, because gradcomp-train refuses others."""
    return max(1, steps // task.evaluations // period) * period


def _job(run, quick):
    """The command of a training, without its output."""
    task = run.task
    data = ":".join(map(str, FILES[task.data])) if task.data in FILES else task.data
    batch, steps, seeds = task.batch // run.ranks, task.steps, run.seeds
    block = run.period if run.period > 1 or run.links == 1 else 4 if quick else 20
    if quick:  # the sets are tiny, so the batch must be small
        data = {"shapetex10": "shapetex10:train=64:test=32", "hmm": "hmm:tokens=6000:test=700"}.get(data.split(":")[0], data)
        batch, steps, seeds = 4, max(4, block * run.links), 1
    many = ["OMPI_MCA_mpi_yield_when_idle=1", "KOKKOS_DISABLE_WARNINGS=1"] if run.ranks > 2 else []
    return ["env", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=false", *many, "mpirun", "-n", run.ranks, "gradcomp-train", "--data",
            data, *task.options, "--batch", batch, "--steps", steps, "--evaluate-every", _interval(task, steps, run.period),
            *(["--target", task.target] if task.target else []), *run.options,
            *(["--block", block] if block > 1 else []), "--methods",
            ",".join(task.specs(run.methods)), *([] if run.controls else ["--no-controls"]),
            *(["--seeds", seeds] if seeds > 1 else [])]


def command(run, rates=None, quick=False):
    """The command of a run, without its output; `rates`: the file of tuned rates."""
    if run.task is None:
        return ["gradcomp-methods", "--describe", *run.options, "--methods", ",".join(run.methods)]
    return [*_job(run, quick), *(["--link", run.link] if run.link else []), *(["--rates", rates] if rates else [])]


def tuning(runs, rates):
    """The command that tunes the rates of all methods of `runs`, which share one task: with 2 ranks and one seed, over the real
    link."""
    controls = any(run.controls for run in runs)  # the controls have fp32
    methods = dict.fromkeys(spec for run in runs for spec in run.methods if not (controls and spec == "fp32"))
    options = next((run.options for run in runs if run.options), ())
    job = _job(dataclasses.replace(runs[0], methods=tuple(methods), controls=controls, options=options, ranks=2, seeds=1,
                                   link=""), False)
    shared = [word for before, word in zip(["", *job], job, strict=False) if not {before, word} & RESULTS]
    shared[shared.index("gradcomp-train")] = "gradcomp-tune"
    return [*shared, "--rates", rates, "--tune-steps", runs[0].task.tuning_steps or runs[0].task.steps]
