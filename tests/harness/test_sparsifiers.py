"""tools/sparsifiers: the quick version makes a whole page, and what is refused."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import types

import pytest

import tool_process
from gradcomp.results.reading import Record
from test_schema import BIN, VALIDATOR, run

pytest.importorskip("matplotlib")
from gradcomp.pages import sparsifiers, sparsifiers_tables

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "sparsifiers"


def tool(*arguments, path=None):
    """Runs the tool with the programs on PATH."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
    environment["PATH"] = f"{pathlib.Path(BIN).resolve()}:{environment['PATH']}" if path is None else path
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment)


def test_a_gradient_sent_whole_has_no_density_and_no_error():
    rows = [{"method": "dgc", "stream": "file", "loop": "open", "steps": 1, "payload_bytes": 800 * kept, "dense_bytes": 400,
             "density_ratio_mean": kept / 0.01, "relative_l2_error": error} for kept, error in ((1.0, 0.0), (0.02, 0.5))]
    rows[1]["stream"] = "layers"
    record = types.SimpleNamespace(rows=rows)
    for table, other in ((sparsifiers_tables.density, "2.00"), (sparsifiers_tables.quality, "0.500")):
        assert table(record, {"dgc": "dgc"}, ["dgc"])[1] == [["`dgc`", "sent whole", other]]


def test_real_gradients_have_the_tensors_of_their_model(monkeypatch):
    listed = [{"name": name, "family": "sparsifier", "parameters": [{"name": "ratio", "choices": []}] if name == "dgc" else []}
              for name in ("dgc", "strom")]
    monkeypatch.setattr(sparsifiers, "command", lambda *words: json.dumps(listed))
    options = types.SimpleNamespace(quick=True, folder=pathlib.Path("raw"))
    jobs = {job.name: " ".join(map(str, job.words)) for job in sparsifiers.PAGE.jobs(options)}
    assert set(jobs) == set(sparsifiers.PAGE.names(options))
    files = " ".join(f"raw/gradients/fp32_step{step}_gradient.npy" for step in (0, 2, 5))
    assert jobs["target_0.1_real"] == f"gradcomp-evaluate --input {files} --layout resnet20 --methods dgc:ratio=0.1"
    assert jobs["no_target"] == ("gradcomp-evaluate --data laplace,gamma,pareto,gauss --size 20000 --repeats 2 --train resnet20 "
                                 "--dataset shapetex10:train=64:test=16 --steps 6 --batch 8 --methods strom")


def test_rows_of_real_gradients_stand_before_the_others():
    record = Record(pathlib.Path("x.json"), {}, [{"stream": "laplace"}])
    real = dataclasses.replace(record, rows=[{"stream": "file"}])
    found = sparsifiers.joined({"no_target": record, "no_target_real": real}, "no_target")
    assert [row["stream"] for row in found.rows] == ["file", "laplace"]


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_quick_page(tmp_path):
    page, images, folder = tmp_path / "pages" / "p.md", tmp_path / "images", tmp_path / "results"
    done = tool("--quick", "--folder", folder, "--output", page, "--images", images)
    assert done.returncode == 0, done.stderr
    source = page.read_text(encoding="utf-8")
    again = tool("--quick", "--page", "--folder", folder, "--output", page, "--images", images, path=tool_process.bare())
    assert again.returncode == 0, again.stderr
    assert page.read_text(encoding="utf-8") == source, "the records alone make it again"
    listed = json.loads(run("gradcomp-methods", "--list=json").stdout)
    sparse = [method["name"] for method in listed if method["family"] == "sparsifier"]
    assert {"top_k", "random_k", "sidco"} <= set(sparse)
    for name in sparse:
        assert re.search(rf"^\| `{name}[:`]", source, re.M), f"{name} has no line"
    assert "fp32`" not in source.split("## Achieved")[1], "sparsifiers only"
    loops = {}
    for path in folder.glob("*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        if path.stem == "distributions":
            continue
        VALIDATOR.validate(document)
        if path.stem == "gradients":
            continue
        loops[path.name] = {row["loop"] for row in document["benchmarks"]}
    real = {name for name in loops if name.endswith("_real.json")}
    assert real == {"target_0.1_real.json", "target_0.01_real.json", "no_target_real.json"}
    assert all(found == {"open"} if name in real else "training" in found for name, found in loops.items()), loops
    dense = [line for line in source.splitlines() if line.startswith("| `dgc") and "sent whole |" in line]
    assert not dense, "the real gradients have the tensors of their model"
    assert loops["target_0.1.json"] == loops["target_0.01.json"] == {"open", "training"}
    figures = re.findall(r"\]\((\.\./images/[^)]+\.svg)\)", source)
    assert len(figures) == 3 and all((page.parent / figure).is_file() for figure in figures)
    assert {(page.parent / figure).resolve() for figure in figures} == {path.resolve() for path in images.iterdir()}
    widths = set()
    for table in re.findall(r"(?:^\|.*\n)+", source, re.M):
        widths.add(len({line.replace("\\|", "").count("|") for line in table.splitlines()}))
    assert widths == {1}, "every line of a table has as many cells"
    commands = [line for line in source.splitlines() if line.startswith("./run exec -- gradcomp-")]
    assert len(commands) >= 3 and "gradcomp-train" in commands[0] and "--dump-gradients" in commands[0]
    cells = re.search(r"^\| `top_k` \|(.*)\|$", source.partition("## Achieved")[2], re.M).group(1).split("|")
    assert len(cells) == 9 and all(cell.strip().startswith("1.00") for cell in cells), "top_k keeps its target"


def test_missing_programs_are_one_line(tmp_path):
    done = tool("--quick", "--folder", tmp_path, "--output", tmp_path / "p.md", path=tool_process.bare())
    assert done.returncode == 2
    assert done.stderr.startswith("sparsifiers: error: ") and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_unwritable_page_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = tool("--quick", "--folder", tmp_path, "--output", tmp_path / "file" / "p.md")
    assert done.returncode == 2
    assert done.stderr.startswith("sparsifiers: error: ") and done.stderr.count("\n") == 1
