"""tools/traffic_page: the quick version makes a whole page, and the values in its tables are computed by hand."""
import os
import pathlib
import subprocess
import types

import pytest

from test_schema import BIN

pytest.importorskip("matplotlib")
from gradcomp.pages import traffic

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "traffic_page"


def record(*rows):
    return types.SimpleNamespace(rows=list(rows))


def row(label, slow, fast, **more):
    links = [{"rate_mbit_s": rate, "step_time_ms": {"mean": time}} for rate, time in ((100, slow), (1000, fast))]
    return {"label": label, "payload_bytes": 2000, "metric": "accuracy", "test_quality": 0.5, "over_links": links} | more


def test_speeds_are_those_of_fp32_over_the_same_link():
    trained = record(row("fp32", 300, 20), row("sign", 100, 40))
    header, lines = traffic.table(trained, record({"label": "sign", "relative_l2_error": 0.5}))
    assert header[4:] == ["100 Mbit/s: ms", "speed", "1000 Mbit/s: ms", "speed"]
    assert lines[0][2:] == ["\N{EN DASH}", "50.0 %", "300", "1.00\N{MULTIPLICATION SIGN}", "20.0", "1.00\N{MULTIPLICATION SIGN}"]
    assert lines[1][2:] == ["0.250", "50.0 %", "100", "3.00\N{MULTIPLICATION SIGN}", "40.0", "0.500\N{MULTIPLICATION SIGN}"]


def test_a_speed_has_the_interval_of_its_rounds():
    fp32 = row("fp32", 300, 20, step_times_ms=[300, 20, 300, 20, 300, 20])  # the links take turns
    sign = row("sign", 100, 40, step_times_ms=[99, 40, 100, 41, 100 / 0.99, 42])
    # logarithms 0.01005 apart: half an interval is 4.3027 x 0.01005 / sqrt(3) = 0.02497
    assert traffic.speed(fp32, sign, 0) == "3.00\N{MULTIPLICATION SIGN} (2.93 to 3.08)"
    assert traffic.speed(fp32, fp32, 0) == "1.00\N{MULTIPLICATION SIGN}"


def test_single_steps_are_kept_one_for_each_block():
    jobs = traffic.PAGE.jobs(types.SimpleNamespace(quick=False, folder=pathlib.Path("raw")))
    kept = [job for job in jobs if job.samples]
    assert [job.name for job in kept] == [case.model for case in traffic.FULL] and kept[0].samples == (traffic.TIMES,)
    assert all(job.words[job.words.index("--block") + 1] == 2 for job in kept)


def test_claims_stand_beside_every_model():
    labels = {name for method, control, _ in traffic.CLAIMS for name in (method, control)}
    one = record(*(row(label, 600 if label == "fp32" else 200, 50) for label in sorted(labels)))
    header, lines = traffic.claims({"a": one, "b": one})
    assert header[2:] == ["`a`", "`b`"] and len(lines) == len(traffic.CLAIMS)
    assert lines[0][2:] == 2 * ["3.00\N{MULTIPLICATION SIGN}<br>1.00\N{MULTIPLICATION SIGN}"]


def test_every_claim_is_about_methods_that_run():
    run = {*traffic.METHODS, *traffic.CONTROLS}
    assert {name for method, control, _ in traffic.CLAIMS for name in (method, control)} <= run


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_quick_page(tmp_path):
    page = tmp_path / "p.md"
    environment = os.environ | {"PATH": f"{pathlib.Path(BIN).resolve()}:{os.environ['PATH']}", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([str(TOOL), "--quick", "--folder", tmp_path / "raw", "--output", page],
                          capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    source = page.read_text(encoding="utf-8")
    lines = [line for line in source.splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in lines] == 2 * ["fp32", "fp16", "bf16", "no_exchange", *traffic.METHODS]
    assert "throughput only" in source and "shapetex10:train=64:test=32" in source
    layout = (tmp_path / "raw/lstm_1x96/layout.txt").read_text(encoding="utf-8").split("\n")
    assert layout[:2] == ["embedding.weight 400x96 outputs-first", "lstm.layer1.input.weight 96x384"]
