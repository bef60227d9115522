"""Systems, experiments, points and --dry-run: the plan, and what is refused in one line."""
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

from conftest import ROOT
from gradcomp.errors import ToolError
from gradcomp.slurm import command, keys, script
from gradcomp.slurm.experiment import read_experiment
from gradcomp.slurm.system import read_system

SUBMIT = ROOT / "slurm" / "submit"
SYSTEM = "RANKS_PER_NODE=2\nLAUNCHER='srun -n {ranks}'\n"
EXPERIMENT = """title = "A title"
time = "00:10:00"
[[sweep]]
nodes = [1, 2]
model = "resnet8"
methods = ["top_k:ratio=0.01", "sign,qsgd:bits=4"]
"""


def files(folder, system=SYSTEM, experiment=EXPERIMENT):
    (folder / "site.env").write_text(system, encoding="utf-8")
    (folder / "sweep.toml").write_text(experiment, encoding="utf-8")
    return folder / "site.env", folder / "sweep.toml"


def submit(*arguments):
    return subprocess.run([SUBMIT, *map(str, arguments)], capture_output=True, text=True, check=False)


def points(folder, experiment):
    system, path = files(folder, experiment=experiment)
    return read_experiment(path, read_system(system))["points"]


def test_every_combination_is_a_point_behind_one_preflight_a_shape(tmp_path):
    found = points(tmp_path, EXPERIMENT)
    assert [(p["program"], p["nodes"], p["options"]["methods"]) for p in found] == [
        ("gradcomp-allreduce", 1, "fp32"), ("gradcomp-allreduce", 2, "fp32"),
        ("gradcomp-train", 1, "top_k:ratio=0.01"), ("gradcomp-train", 1, "sign,qsgd:bits=4"),
        ("gradcomp-train", 2, "top_k:ratio=0.01"), ("gradcomp-train", 2, "sign,qsgd:bits=4")]
    assert len({p["id"] for p in found}) == 6
    again = points(tmp_path, EXPERIMENT.replace("[1, 2]", "[2, 1]"))
    assert {p["id"] for p in again} == {p["id"] for p in found}, "a point's name depends only on its work"
    assert points(tmp_path, EXPERIMENT + EXPERIMENT[EXPERIMENT.index("[["):]) == found, "the same work must be planned once"


def test_strong_scaling_divides_the_batch(tmp_path):
    found = points(tmp_path, EXPERIMENT.replace("model", "global_batch = 64\nmodel"))
    assert [p["options"]["batch"] for p in found[2:]] == [32, 32, 16, 16]
    with pytest.raises(ToolError, match="multiple of the ranks, 2 x 2"):
        points(tmp_path, EXPERIMENT.replace("model", "global_batch = 66\nmodel"))


def test_controls_cannot_be_left_out(tmp_path):
    found = points(tmp_path, EXPERIMENT.replace('model = "resnet8"', 'program = "gradcomp-allreduce"'))
    assert found[2]["options"]["methods"] == "fp32,fp16,bf16,top_k:ratio=0.01"
    assert "--no-controls" not in {key.option for key in keys.KEYS.values()}


def test_a_point_times_bucket_sizes_before_it_trains(tmp_path):
    found = points(tmp_path, EXPERIMENT.replace("model", "sweep_buckets = [true, false]\nblock = 5\nmodel"))
    several = [command.commands(point, tmp_path) for point in found[2:]]
    assert len(several) == 8 and sorted(map(len, several)) == [1] * 4 + [2] * 4
    rates = ["--rates", str(tmp_path / "rates.json")]
    for first, last in (both for both in several if len(both) == 2):
        assert first[:2] == [keys.TUNE, "--buckets-only"] and first[-2:] == rates and "--block" not in first
        assert last[0] == keys.TRAIN and " ".join(rates) in " ".join(last) and "--block" in last
        assert last[last.index("--model"):][:2] == first[first.index("--model"):][:2]
    assert all("--checkpoint" in both[-1] and "True" not in both[-1] for both in several)
    without = points(tmp_path, EXPERIMENT.replace("model", "block = 5\nmodel"))
    assert {p["id"] for p in without} < {p["id"] for p in found}, "false is as good as no key"


def test_the_link_survey_knows_the_best_dense_control():
    found = read_experiment(ROOT / "slurm/experiments/link-survey.toml", read_system(ROOT / "slurm/systems/example-cpu.env"))
    trainings = [point for point in found["points"] if point["program"] == keys.TRAIN]
    assert trainings and all("sweep_buckets" in point["options"] or "rates" in point["options"] for point in trainings)


@pytest.mark.parametrize("old, new, reason", [
    ("title", "titel", "unknown key 'titel': allowed are title, time"), ("[[sweep]]", "[sweep]", "tables [[sweep]]"),
    ('"00:10:00"', '"10 minutes"', "HH:MM:SS"), ('"A title"', "3", "a text"), ("time", "#", "'time' is missing"),
    ("nodes = [1, 2]", "nodes = [1, 0]", "nodes = 0: allowed is a whole number from 1"),
    ("nodes = [1, 2]", "nodes = true", "nodes = True: allowed is a whole number"),
    ("nodes = [1, 2]", "nodes = []", "empty list"), ("nodes", "node", "unknown key 'node': allowed are program, nodes"),
    ("resnet8", "ResNet 8", "model = 'ResNet 8': allowed is a model of gradcomp-train --help"),
    ("sign,", "sing,", "allowed is method specs"),
    ("methods", "#", "'methods' is missing"), ("model", 'link = "fast"\nmodel', "100Mbit/s,50us"),
    ("model", "sizes = \"8\"\nmodel", "gradcomp-train takes no 'sizes'"),
    ("model", 'strategy = "local,period=8"\nmodel', "allowed is a strategy of gradcomp-methods --list=strategies"),
    ("model", 'sampler = "mercury:"\nmodel', "allowed is a sampler of gradcomp-methods --list=samplers"),
    ("model", "sweep_buckets = 1\nmodel", "sweep_buckets = 1: allowed is true or false"),
    ("model", 'sweep_buckets = true\nrates = "r.json"\nmodel', "sweep_buckets and rates exclude each other"),
    ("model", 'data = " x"\nmodel', "data = ' x': allowed is a data set"),
    ("model", "bucket_kib = 0\nmodel", "'auto' or a whole number"), ("[1, 2]", "2000", "MAX_NODES of system site"),
    ("model", "batch = 1\nglobal_batch = 4\nmodel", "exclude each other"), ("title =", "title", "not valid TOML")])
def test_wrong_experiments(tmp_path, old, new, reason):
    system, experiment = files(tmp_path, experiment=EXPERIMENT.replace(old, new, 1))
    done = submit(system, experiment, "--output", tmp_path / "out")
    assert done.returncode == 2 and done.stdout == "" and not (tmp_path / "out").exists()
    assert done.stderr.replace("'", "").startswith(f"submit: error: {experiment}") and done.stderr.count("\n") == 1, done.stderr
    assert reason in done.stderr, done.stderr


@pytest.mark.parametrize("text, reason", [
    ("RANKS_PER_NODE=2\n", "LAUNCHER is not set"), (SYSTEM + "PARTITON=x\n", "unknown variable PARTITON: allowed are"),
    (SYSTEM + "MAX_JOBS=0\n", "MAX_JOBS='0': allowed are whole numbers from 1"), (SYSTEM + "SCHEDULER=pbs\n", "slurm, none"),
    (SYSTEM + "module load x\n", "'module' is not NAME=VALUE"), (SYSTEM + "SETUP='\n", "No closing quotation"),
    (SYSTEM.replace("ranks}", "rank}"), "{rank}: allowed are {nodes}"), (SYSTEM.replace("ranks}", "ranks"), "LAUNCHER: ")])
def test_wrong_systems(tmp_path, text, reason):
    system, experiment = files(tmp_path, system=text)
    done = submit(system, experiment, "--output", tmp_path / "out")
    assert done.returncode == 2 and done.stderr.startswith(f"submit: error: {system}") and done.stderr.count("\n") == 1
    assert reason in done.stderr, done.stderr


@pytest.mark.parametrize("words, reason", [
    (("nowhere", "small"), "no 'nowhere' in slurm/systems: allowed are example-amd"),
    (("local", "nothing"), "no 'nothing' in slurm/experiments: allowed are link-survey"),
    (("x.env", "small"), "no file 'x.env'")])
def test_wrong_names(words, reason):
    done = submit(*words)
    assert done.returncode == 2 and reason in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("experiment", sorted(p.stem for p in (ROOT / "slurm/experiments").glob("*.toml")))
@pytest.mark.parametrize("system", ["example-nvidia", "example-amd", "example-cpu"])
def test_what_ships_is_planned_and_nothing_is_written(tmp_path, system, experiment):
    done = submit(system, experiment, "--dry-run", "--output", tmp_path / "out")
    assert done.returncode == 0 and done.stderr == "" and not (tmp_path / "out").exists()
    assert len(re.findall(r"^point \d+ .*: to run: srun ", done.stdout, re.MULTILINE)) >= 5
    assert done.stdout.splitlines()[-1].startswith("sbatch --parsable --dependency=afterany:JOBS ")
    for words in ("--requeue", "--open-mode=append", "--signal=B:USR1@300", "--array="):
        assert words in done.stdout
    gpus = system != "example-cpu"
    assert ("--gpu-bind=none" in done.stdout) == ("KOKKOS_MAP_DEVICE_ID_BY=mpi_rank" in done.stdout) == gpus
    assert ("OMP_PLACES=cores" in done.stdout) == (not gpus)
    scripts = re.findall(r"^#!/bin/bash\n.*?^exec .*?$", done.stdout, re.MULTILINE | re.DOTALL)
    for text in scripts:
        assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


@pytest.mark.parametrize("name, preset", [("nvidia", "cuda"), ("amd", "hip"), ("cpu", "")])
def test_examples_name_builds_and_environments_that_there_are(name, preset):
    text = (ROOT / f"slurm/systems/example-{name}.env").read_text(encoding="utf-8")
    assert "".join(re.findall(r"build/([\w-]+)/bin", text)) == preset
    for folder in re.findall(r"spack env activate (.*)", text):
        assert (ROOT / folder.removeprefix('-d "$HOME/gradcomp/').rstrip('"') / "spack.yaml").is_file(), folder


def test_what_the_last_job_needs_is_named():
    words = [sys.executable, "-B", "-c", "import sys, gradcomp.report.cli\n"
             "from gradcomp.results import schema\nschema._validator('record')\nprint(*sys.modules)"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT / "python")
    said = re.search(r"also needs NumPy[\w, ]*", (ROOT / "docs/slurm.md").read_text(encoding="utf-8")).group()
    assert said in (ROOT / "slurm/systems/example-nvidia.env").read_text(encoding="utf-8")
    for name in ("NumPy", "SciPy", "pandas", "matplotlib", "Jinja2", "jsonschema"):
        assert (name in said) == (name.lower() in done.stdout.split()), name


def test_array_ranges():
    assert script.ranges([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8" and script.ranges([4]) == "4"


@pytest.mark.parametrize("line", ['model = "resnet9_of_mine"', 'strategy = "priority:bucket_kib=64"', 'sampler = "mercury"',
                                  'strategy = "servers:mode=async:servers=2"'])
def test_the_program_knows_the_names(tmp_path, line):
    """Whoever adds a model, a strategy or a sampler edits no list here."""
    key, value = line.split(" = ")
    found = points(tmp_path, EXPERIMENT.replace('model = "resnet8"', line))
    assert [point["options"][key] for point in found[2:]] == 4 * [value.strip('"')]
    assert keys.KEYS[key].option in command.commands(found[2], tmp_path)[-1]


def test_options_and_names_are_those_of_the_program():
    programs = pathlib.Path(os.environ.get("GRADCOMP_BIN", "/nonexistent"))
    if not (programs / keys.TRAIN).is_file():
        pytest.skip("the programs are not built (GRADCOMP_BIN)")

    def said(program, word):
        return subprocess.run([programs / program, word], capture_output=True, text=True, check=True).stdout

    options = {program: set(re.findall(r"--[a-z-]+", said(program, "--help"))) for program in (keys.TRAIN, keys.TUNE)}
    trained = {name: key.option for name, key in keys.KEYS.items() if keys.TRAIN in key.programs and key.option}
    assert set(trained.values()) <= options[keys.TRAIN]
    assert {option for name, option in trained.items() if name not in command.RESULTS} <= options[keys.TUNE]
    assert not {trained[name] for name in command.RESULTS} & options[keys.TUNE]
    models = re.search(r"^  --model [^]]*\](.*?)^  --", said(keys.TRAIN, "--help"), re.MULTILINE | re.DOTALL)
    assert models
    known = {"model": set(re.split(r",\s+", models[1].strip()))} | {
        key: set(re.findall(r"^[a-z0-9_]+", said("gradcomp-methods", f"--list={word}"), re.MULTILINE))
        for key, word in (("strategy", "strategies"), ("sampler", "samplers"))}
    assert all(known.values())
    for path in (ROOT / "slurm/experiments").glob("*.toml"):
        for sweep in tomllib.loads(path.read_text(encoding="utf-8"))["sweep"]:
            for key in known.keys() & sweep.keys():
                values = sweep[key] if isinstance(sweep[key], list) else [sweep[key]]
                assert {value.split(":")[0] for value in values} <= known[key], path
