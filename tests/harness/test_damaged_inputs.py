"""Tools that read what users and Slurm give, with one damaged file: sweeps and their folders, squeue, folders of images and features,
gradients."""
import gzip
import json

import pytest

pytest.importorskip("hypothesis")
np = pytest.importorskip("numpy")
from hypothesis import given
from hypothesis import strategies as st

import damage
import example_results
import tool_process
from gradcomp.datasets import cli as datasets
from gradcomp.datasets import digits
from gradcomp.mutate import folders
from gradcomp.report import gradients as report
from gradcomp.slurm import cli as slurm
from gradcomp.slurm import figures, rank_map, references
from gradcomp.slurm.experiment import read_experiment
from gradcomp.slurm.folder import Folder
from gradcomp.slurm.system import read_system

EXPERIMENT = """title = "A title"
time = "00:10:00"
preflight_sizes = "1024"
[[sweep]]
model = "resnet8"
methods = ["top_k:ratio=0.01", "sign"]
nodes = [1, 2]
batch = 8
lr = [0.1, 1]
sweep_buckets = true
data = "text:book.txt"
[[sweep]]
program = "gradcomp-allreduce"
methods = "sign"
sizes = "1024,2048"
"""
SITE = "SCHEDULER={}\nRANKS_PER_NODE=2\nLAUNCHER='env -n {{ranks}}'\nMAX_NODES=4\nSETUP='export A=1'\nPARTITION=\"a b\"\n"
CHECKS = "nodes = [1, 2]\n[Step.n1]\na = { value = 11.8, lower = -0.1, upper = 0.5, unit = \"GB/s\" }\n"
SQUEUE = "12 0 R\nCLUSTER: a\n12 1 PD\n13 0 CG\n"
RANKS = "rank_map 0 0 host 0 0-1,4\nrank_map 1 1 host - 5\na banner\n"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def write_sweep(folder):
    """A sweep of which a training, a preflight and a reduction are finished."""
    for name, scheduler in (("here", "none"), ("cluster", "slurm")):
        write(folder / f"{name}.env", SITE.format(scheduler))
    write(folder / "sweep.toml", EXPERIMENT)
    write(folder / "here.checks.toml", CHECKS)
    content = read_experiment(folder / "sweep.toml", system := read_system(folder / "cluster.env"))
    made = Folder(folder / "out", content["title"], content["time"], "sweep", system, content["points"])
    made.keep_plan()
    for index, point in enumerate(made.points):
        document = example_results.written() if point["program"] == "gradcomp-train" else example_results.allreduce()
        if index % 3:
            write(made.record(point), document)
        else:
            write(made.point_folder(point) / "history.jsonl", '{"event": "start", "time": 1}\n{"event": "requeued", "time": 2}\n')
    write(made.point_folder(made.points[3]) / "failed.txt", "status 1: it failed\n")
    write(made.path / "report/report.html", "an older report")
    write(made.path / "jobs/submitted.jsonl", '{"job": "12", "points": [0, 1]}\n{"job": "13", "points": [2]}\n')
    write(made.path / "jobs/gather.json", {"job": "14"})
    write(folder / "squeue.txt", SQUEUE)
    write(folder / "ranks.txt", RANKS)
    for name, text in (("squeue", f"cat '{folder}/squeue.txt'"), ("sbatch", "echo 15"), ("scancel", "true")):
        write(folder / "bin" / name, f"#!/bin/sh\n{text}\n")
        (folder / "bin" / name).chmod(0o755)


def dry_run(folder):
    words = [folder / "here.env", folder / "sweep.toml", "--output", folder / "x", "--dry-run"]
    return tool_process.call(slurm.submit_main, "submit", *words)


def submit(folder):
    return tool_process.call(slurm.submit_main, "submit", folder / "cluster.env", folder / "sweep.toml", "--output", folder / "out")


def gather(folder):
    return tool_process.call(slurm.gather_main, "gather", folder / "out")


def checks(folder):
    return damage.guard("checks", lambda: references.read_references(folder / "here.checks.toml", read_system(folder / "here.env")))


def ranks(folder):
    said = (folder / "ranks.txt").read_text(encoding="utf-8", errors="replace")  # as subprocess gives it
    return damage.guard("ranks", lambda: rank_map.text(said, 2, True))


def write_records(folder):
    for name, document in (("train", example_results.train()), ("allreduce", example_results.allreduce()),
                           ("bench", example_results.bench())):
        write(folder / f"{name}.json", document)
    write(folder / "said.txt", "a line\ngradcomp exit status 0\n")


def judge(folder):
    def work():
        for name, read in (("train", figures.step), ("allreduce", figures.allreduce), ("bench", figures.compress)):
            said = (folder / "said.txt").read_text(encoding="utf-8", errors="replace")
            read(figures.read_record(folder / f"{name}.json", said, "gradcomp-train"))
    return damage.guard("figures", work)


def write_images(folder):
    from PIL import Image
    numbers = np.random.RandomState(1)
    for place in ("train/a", "train/b", "test/a", "test/b"):
        (folder / "in" / place).mkdir(parents=True)
        pixels = numbers.randint(0, 256, (9, 8, 3), dtype=np.uint8)
        for ending in ("png", "jpg", "bmp", "ppm", "webp"):
            Image.fromarray(pixels).save(folder / "in" / place / f"1.{ending}")
        Image.fromarray(pixels[..., 0].astype(np.uint16) * 257).save(folder / "in" / place / "2.png")
        np.save(folder / "in" / place / "3.npy", pixels)
    write(folder / "out" / "index.txt", "an older index")
    write(folder / "out" / "00000.gcds", "older images")


def packed(folder):
    return tool_process.call(datasets.main, "datasets", "packed", folder / "in", folder / "out", "--size", 4, "--images-per-file", 9)


def write_features(folder):
    for place, frames in (("a/1", 2), ("a/2", 3), ("b/1", 1), ("b/2", 4)):
        (folder / "in" / place).parent.mkdir(parents=True, exist_ok=True)
        np.save(folder / "in" / f"{place}.npy", np.ones((frames, 3), np.float64 if frames % 2 else np.float16))
    write(folder / "out.gcfs", "older features")


def frames(folder):
    return tool_process.call(datasets.main, "datasets", "frames", folder / "in", folder / "out.gcfs", "--test", 0.5)


def write_gradients(folder):
    for name in ("1_gradient", "1_accumulated"):
        np.save(folder / f"{name}.npy", np.random.RandomState(1).standard_normal(40).astype(np.float32))


def gradients(folder):
    return damage.guard("gradients", lambda: report.table(report.groups(folder.glob("*.npy"))))


def write_digits(folder):
    lines = [",".join(map(str, [*range(16), *48 * [1], number % 10])) for number in range(digits.TRAIN + 1)]
    (folder / "digits.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def read_digits(folder):
    return damage.guard("datasets", lambda: digits.read_source(folder / "digits.csv.gz"))


def write_table(folder):
    write(folder / "table.toml", folders.TABLE.read_text(encoding="utf-8"))


def table(folder):
    return damage.guard("gradcomp-mutate", lambda: folders.read(folder / "table.toml"))


# {name: (what writes right input, patterns of the files that are damaged, what runs the tool, its statuses, examples)}
TOOLS = {
    "submit --dry-run": (write_sweep, ["sweep.toml", "here.env"], dry_run, (0,), 60),
    "submit": (write_sweep, ["out/plan.json", "out/jobs/*.json*", "squeue.txt"], submit, (0,), 40),
    "gather": (write_sweep, ["out/plan.json", "out/records/*", "out/points/*/*"], gather, (0, 1), 25),
    "checks": (write_sweep, ["here.checks.toml"], checks, (0,), 60),
    "ranks": (write_sweep, ["ranks.txt"], ranks, (0,), 60),
    "figures": (write_records, ["*"], judge, (0,), 60),
    "datasets packed": (write_images, ["in/**/*.*"], packed, (0,), 40),
    "datasets frames": (write_features, ["in/**/*.npy"], frames, (0,), 60),
    "datasets digits": (write_digits, ["*"], read_digits, (0,), 30),
    "gradients": (write_gradients, ["*.npy"], gradients, (0,), 20),
    "gradcomp-mutate": (write_table, ["table.toml"], table, (0,), 60),
}


def swap(old, new):
    return lambda data: data.replace(old, new)


# What was once an error that nobody had foreseen, or changed a file before it failed: (tool, pattern of the file, change, status, words)
FOUND = [
    ("submit --dry-run", "sweep.toml", swap(b"A title", b"\xc2"), 2, "sweep.toml' is not valid TOML: 'utf-8' codec"),
    ("submit --dry-run", "sweep.toml", lambda _: b"a = " + b"[" * damage.DEEP, 2, "too deeply nested"),
    ("submit", "out/jobs/gather.json", lambda _: b'{"job": []}', 2, "gather.json' does not tell a job"),
    ("submit", "out/jobs/submitted.jsonl", swap(b'"12"', b"[]"), 0, ""),
    ("submit", "squeue.txt", lambda _: b"12 \xc2\xb2 R\n\xff", 0, ""),
    ("submit", "out/plan.json", lambda _: b"[]", 2, "holds another plan"),
    ("gather", "out/plan.json", damage.edited(lambda plan: plan["points"][0].update(nodes=3)), 2, "the point preflight-n"),
    ("gather", "out/plan.json", damage.edited(lambda plan: plan["points"].append(None)), 2, "is not a plan of slurm/submit"),
    ("gather", "out/records/preflight*", damage.edited(lambda record: record["benchmarks"][0].pop("elements")), 1, "is damaged"),
    ("gather", "out/records/allreduce*", swap(b'"sign"', b'"\\ud800"'), 1, ""),
    ("ranks", "ranks.txt", swap(b"0-1", b"\0-1"), 0, ""),
    ("figures", "allreduce.json", lambda _: b'{"context": null}', 2, "the program wrote no 'allreduce.json' with results"),
    ("figures", "bench.json", damage.edited(lambda record: record["benchmarks"].pop(0)), 2, "without what is judged"),
    ("datasets packed", "in/test/a/1.bmp", lambda _: b"", 2, "cannot read"),
    ("datasets frames", "in/b/2.npy", swap(b"}  ", b"}\x07 "), 2, "is not a .npy file"),
    ("gradients", "1_gradient.npy", swap(b"}  ", b"}\x07 "), 2, "is not a .npy file"),
    ("gradcomp-mutate", "table.toml", lambda data: data.replace(b"{ targets", b"false, { targets"), 2, "is not a table of folders"),
]


@pytest.fixture(name="environment", autouse=True)
def fixture_environment(monkeypatch):
    monkeypatch.setenv("GRADCOMP_REPORT", "true")  # the report has tests of its own


@pytest.mark.parametrize("name, pattern, change, status, words", FOUND)
def test_what_was_found_is_one_line(name, pattern, change, status, words, tmp_path, monkeypatch):
    prepare, _, run, *_ = TOOLS[name]
    prepare(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    rig = damage.Rig(tmp_path)
    one = rig.matching(pattern)[0]
    done = rig.hold(one, change(rig.right[one]), lambda: run(tmp_path), (0, 1))
    assert done.returncode == status and words in done.stderr, done.stderr


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_reads_damaged_input_or_says_what_is_wrong(name, tmp_path, monkeypatch):
    prepare, patterns, run, statuses, count = TOOLS[name]
    prepare(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    rig = damage.Rig(tmp_path)
    chosen = rig.matching(*patterns)
    with rig.damage(chosen[0], rig.right[chosen[0]]):
        right = run(tmp_path)
        assert right.returncode in statuses, right.stderr

    @damage.examples(count)
    @given(st.data())
    def holds(data):
        name = data.draw(st.sampled_from(chosen))
        rig.hold(name, data.draw(damage.damaged(rig.right[name])), lambda: run(tmp_path), statuses)
    holds()
