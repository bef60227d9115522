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
    return {"label": label, "payload_bytes": 2000, "metric": "accuracy", "test_quality": 0.5, "quality_matched": True,
            "curve": {"step": [2, 4, 6], "quality": [0.112, 0.25, None]}, "over_links": links} | more


def test_speeds_are_those_of_fp32_over_the_same_link():
    trained = record(row("fp32", 300, 20), row("sign", 100, 40))
    header, lines = traffic.table(trained, record({"label": "sign", "relative_l2_error": 0.5}))
    assert header[3:] == ["validation accuracy", "test accuracy", "100 Mbit/s: ms", "speed", "1000 Mbit/s: ms", "speed"]
    assert lines[0][2] == "\N{EN DASH}" and lines[1][2] == "0.250"
    assert lines[0][4:] == ["50.0 %", "300", "1.00\N{MULTIPLICATION SIGN}", "20.0", "1.00\N{MULTIPLICATION SIGN}"]
    assert lines[1][4:] == ["50.0 %", "100", "3.00\N{MULTIPLICATION SIGN}", "40.0", "0.500\N{MULTIPLICATION SIGN}"]


def test_the_quality_curve_has_every_evaluation():
    assert traffic.curve(row("fp32", 1, 1)) == "11.2 % \N{RIGHTWARDS ARROW} 25.0 % \N{RIGHTWARDS ARROW} \N{EN DASH}"
    words = row("fp32", 1, 1, metric="perplexity", curve={"step": [2, 4], "quality": [269.63, 131.0]})
    assert traffic.curve(words) == "270 \N{RIGHTWARDS ARROW} 131"
    assert traffic.evaluated(record(row("sign", 1, 1), row("fp32", 1, 1))) == "Validation accuracy: after steps 2, 4 and 6."


def test_qualities_beside_a_reference_that_learned_too_little_say_nothing():
    said = traffic.evaluated(record(row("fp32", 1, 1, quality_matched=False, test_quality=0.119)))
    assert said.startswith("Validation accuracy: after steps 2, 4 and 6. **The qualities of this table say nothing**: with a test "
                           "accuracy of 11.9 %, `fp32` itself is not clearly better than ")


def test_a_method_that_diverged_has_neither_quality_nor_speed():
    ended = row("sign", 100, None, test_quality=None, diverged_at_step=3, step_times_ms=[100], curve={"step": [2], "quality": [0.112]})
    fp32 = row("fp32", 300, 20, step_times_ms=[300, 20, 300, 20])
    line = traffic.table(record(fp32, ended), record())[1][1]
    assert line[3:] == ["11.2 %", "diverged at step 3", "100", "\N{EN DASH}", "\N{EN DASH}", "\N{EN DASH}"]
    assert traffic.faster(fp32, ended, 0) == (None, None, None)
    assert traffic.evaluated(record(row("fp32", 1, 1, diverged_at_step=1, curve={"step": [], "quality": []}))) == (
        "**The qualities of this table say nothing**: `fp32` itself diverged at step 1.")


def test_a_speed_has_the_interval_of_its_rounds():
    fp32 = row("fp32", 300, 20, step_times_ms=[300, 20, 300, 20, 300, 20])  # the links take turns
    sign = row("sign", 100, 40, step_times_ms=[99, 40, 100, 41, 100 / 0.99, 42])
    # logarithms 0.01005 apart: half an interval is 4.3027 x 0.01005 / sqrt(3) = 0.02497
    assert traffic.speed(fp32, sign, 0) == "3.00\N{MULTIPLICATION SIGN} (2.93 to 3.08)"
    assert traffic.speed(fp32, fp32, 0) == "1.00\N{MULTIPLICATION SIGN}"
    cells = traffic.table(record(fp32, sign), record())[1][1][5:]
    # 99, 100 and 101.01 have the deviation 1.005: half an interval is 4.3027 x 1.005 / sqrt(3) = 2.497. 40, 41 and 42: 2.484.
    assert cells[0] == "100 (97.5 to 103)" and cells[2] == "41.0 (38.5 to 43.5)"


def test_single_steps_are_kept_one_for_each_block():
    jobs = traffic.PAGE.jobs(types.SimpleNamespace(quick=False, folder=pathlib.Path("raw")))
    kept = [job for job in jobs if job.samples]
    assert [job.name for job in kept] == [case.model for case in traffic.FULL] and kept[0].samples == (traffic.TIMES,)
    assert all(job.words[job.words.index("--block") + 1] == 2 for job in kept)


def test_claims_stand_beside_every_model():
    labels = {name for claim in traffic.CLAIMS for name in (claim.method, claim.control)}
    times = {label: (600, 50) if label == "fp32" else (200, 50) for label in sorted(labels)}
    one = record(*(row(label, *both, step_times_ms=2 * list(both)) for label, both in times.items()))  # two equal rounds
    errors = record({"label": "sidco:ratio=0.001", "relative_l2_error": 0.5}, {"label": "fp32", "relative_l2_error": 0.0})
    header, lines = traffic.claims({"a": one, "b": one}, {"a": errors, "b": record()})
    assert header[2:] == ["`a`", "`b`"] and len(lines) == len(traffic.CLAIMS)
    speeds = "<br>3.00\N{MULTIPLICATION SIGN} (3.00 to 3.00) less<br>1.00\N{MULTIPLICATION SIGN} (1.00 to 1.00) refuted"
    assert lines[0][2:] == ["NMSE 0.250 against 0" + speeds, "NMSE \N{EN DASH} against \N{EN DASH}" + speeds]
    assert lines[4][2].endswith(speeds.replace("less", "confirmed")), "PowerSGD's 2.2"


@pytest.mark.parametrize("found, said", [((2.0, 9.0), "confirmed"), ((1.9, 2.0), "open"), ((0.5, 2.5), "open"), ((1.1, 1.9), "less"),
                                         ((1.0, 1.9), "refuted"), ((0.5, 0.9), "refuted"), ((None, None), "open")])
def test_a_claim_is_judged_by_the_whole_interval(found, said):
    assert traffic.verdict(2.0, *found) == said


def test_every_claim_is_about_methods_that_run():
    run = {*traffic.METHODS, *traffic.CONTROLS}
    assert {name for claim in traffic.CLAIMS for name in (claim.method, claim.control)} <= run


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
