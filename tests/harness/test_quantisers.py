"""tools/quantisers: the quick version makes a whole page, and what is refused."""
import json
import os
import pathlib
import re
import subprocess
import types

import pytest

import tool_process
from test_schema import BIN, VALIDATOR, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "quantisers"


def tool(*arguments, path=None):
    """Runs the tool with the programs on PATH."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
    environment["PATH"] = f"{pathlib.Path(BIN).resolve()}:{environment['PATH']}" if path is None else path
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment)


def section(source, title):
    """The cells of a section's table, line by line."""
    table = source.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("| ")]


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_quick_page(tmp_path):
    page, folder = tmp_path / "pages" / "p.md", tmp_path / "results"
    done = tool("--quick", "--folder", folder, "--output", page)
    assert done.returncode == 0, done.stderr
    source = page.read_text(encoding="utf-8")
    listed = json.loads(run("gradcomp-methods", "--list=json").stdout)
    names = [method["name"] for method in listed if method["family"] in ("quantiser", "low rank")]
    assert {"qsgd", "sign", "powersgd"} <= set(names)
    quality, times = section(source, "Quality"), section(source, "Time, throughput only")
    for name in names:
        for table in (quality, times):
            assert any(re.match(rf"`{name}[:`]", line[0]) for line in table), f"{name} has no line"
    assert tool("--quick", "--page", "--folder", folder, "--output", page, path=tool_process.bare()).returncode == 0
    assert page.read_text(encoding="utf-8") == source, "the records alone make it again"
    for path in folder.glob("*.json"):
        VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))
    assert all(line[-1] != "\N{EN DASH}" for line in times), "an error beside every ratio"
    rows = {line[0]: line for line in quality}
    assert rows["`sign`"][1] != "\N{EN DASH}" and float(rows["`sign`"][1]) < 1.01, "one bit for each element"
    assert 4 <= float(rows["`qsgd:bits=4`"][1]) < 4.2
    bits = quality[0].index("fp32_step1_gradient: bits / element")
    assert float(rows["`one_bit`"][bits]) < 3 and float(rows["`atomo`"][bits]) < 32, "the real gradient has the tensors of its model"
    payloads = {line[0]: line for line in section(source, "Bytes")}
    assert payloads["`powersgd:rank=4`"][2] == "619,640", "ResNet-18, as PowerSGD's authors count"
    assert not list(page.parent.glob("*.part"))


def test_a_real_gradient_has_the_tensors_of_its_model(monkeypatch):
    from gradcomp.pages import quantisers
    listed = [{"name": "one_bit", "family": "quantiser", "parameters": []}, {"name": "top_k", "family": "sparsifier", "parameters": []}]
    monkeypatch.setattr(quantisers, "command", lambda *words: json.dumps(listed))
    jobs = {job.name: " ".join(map(str, job.words))
            for job in quantisers.PAGE.jobs(types.SimpleNamespace(quick=False, folder=pathlib.Path("raw")))}
    assert jobs["real"] == ("gradcomp-evaluate --methods one_bit,sketch:ratio=0.001,fp16,bf16," + ",".join(quantisers.HYBRIDS) +
                            " --input raw/gradients/fp32_step99_gradient.npy --layout resnet20 --trials 100 --timings 1")
    assert "gradcomp-train --model resnet20 " in jobs["gradients"]


def test_methods_that_send_the_gradient_whole_are_marked():
    from gradcomp.pages import quantisers_tables

    def row(method, payload, error):
        return {"method": method, "stream": "laplace", "elements": 1000, "compress_ms": 2.0, "decompress_ms": 1.0, "read_limit_ms": 1.0,
                "dense_bytes": 4000.0, "payload_bytes": payload, "payload_bits_per_element": payload / 125, "relative_l2_error": error}
    record = types.SimpleNamespace(rows=[row("atomo", 4000.0, 0.0), row("sign", 125.0, 0.5)])
    header, lines = quantisers_tables.times([(record, ["atomo", "sign"])])
    assert [line[0] for line in lines] == ["`atomo` (sends this gradient whole)", "`sign`"]
    assert [line[header.index("bits / element")] for line in lines] == ["32.0", "1.00"]


def test_missing_programs_are_one_line(tmp_path):
    done = tool("--quick", "--folder", tmp_path, "--output", tmp_path / "p.md", path=tool_process.bare())
    assert done.returncode == 2
    assert done.stderr.startswith("quantisers: error: ") and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
