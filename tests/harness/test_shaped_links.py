"""tools/shaped-links: where ranks run, what links carry compared with what programs count, refusals, and what is left."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from gradcomp.errors import ToolError
from gradcomp.links import cli, inside, rate
from test_schema import BIN

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = [str(ROOT / "tools" / "shaped-links")]
REASON = cli.why_not()
needs_links = pytest.mark.skipif(bool(REASON), reason=f"no shaped links on this machine: {REASON}")


def start(*words):
    environment = os.environ | {"PATH": f"{pathlib.Path(BIN or '/nonexistent').resolve()}:{os.environ['PATH']}"}
    # pylint: disable-next=consider-using-with
    return subprocess.Popen([*TOOL, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def run(*words):
    process = start(*words)
    out, error = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


@pytest.mark.parametrize("text, bits", [("100mbit", 1e8), ("1gbit", 1e9), ("100Mbit/s", 1e8), ("2.5Mbit", 2.5e6),
                                        ("1000kbit", 1e6)])
def test_rates_as_tc_and_as_the_programs_have_them(text, bits):
    assert rate.parse(text).bits == bits and rate.parse(rate.parse(text).text).bits == bits


@pytest.mark.parametrize("text", ["", "100", "mbit", "0mbit", "999kbit", "11gbit", "1e3mbit", "-1mbit", "100mbits"])
def test_what_is_no_rate(text):
    with pytest.raises(ToolError, match="allowed: 1mbit to 10gbit"):
        rate.parse(text)


def test_buckets_grow_up_to_a_largest():
    assert rate.parse("10mbit").choices == [["10000000bit", f"{bucket}kb", "50ms"] for bucket in (6, 16, 32)]
    assert rate.parse("1gbit").choices[-1] == ["1000000000bit", "256kb", "10ms"]
    assert rate.parse("10gbit").choices[-1] == ["10000000000bit", "4096kb", "10ms"]


@pytest.mark.parametrize("carried, bucket", [([0.99], "6kb"), ([0.5, 0.7, 0.9], "32kb"), ([0.5, 0.6, 0.7, 0.7], None)])
def test_the_smallest_bucket_that_carries_the_rate_is_taken(monkeypatch, carried, bucket):
    asked, shares, made = rate.parse("100mbit"), iter(carried), []
    monkeypatch.setattr(inside, "_run", made.append)
    monkeypatch.setattr(inside, "calibrate", lambda: next(shares) * asked.bits)
    if bucket:
        assert inside.shape(asked, 2) == (bucket, carried[-1] * asked.bits) and made[-1][-2] == bucket
    else:
        with pytest.raises(ToolError, match="where 100 were asked for"):
            inside.shape(asked, 2)
    assert len(made) == len(carried)


@pytest.mark.parametrize("share, holds", [(0.79, False), (0.81, True), (1.04, True), (1.06, False)])
def test_links_of_another_rate_are_refused(share, holds):
    asked = rate.parse("100mbit")
    if holds:
        inside.require_rate(share * asked.bits, asked)
    else:
        with pytest.raises(ToolError, match="where 100 were asked for"):
            inside.require_rate(share * asked.bits, asked)


@pytest.mark.parametrize("words, said", [
    (["--rate", "fast", "--", "true"], "'fast' is not the rate"), (["--", "true"], "--rate"), (["--rate", "1gbit"], "no command"),
    (["--rate", "1gbit", "--nodes", "1", "--", "true"], "allowed: 2 to 64"),
    (["--rate", "1gbit", "--report", "/no/such/r.json", "--", "true"], "/no/such/r.json")])
def test_a_wrong_call_is_one_line(words, said):
    done = run(*words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stderr.startswith("shaped-links: error: "), done.stderr
    assert said in done.stderr


@needs_links
def test_ranks_run_on_their_nodes_and_the_last_status_counts(tmp_path):
    report = tmp_path / "report.json"
    # If a rank ends with an error, mpirun kills the others. So each rank waits until all have said where they are.
    said = tmp_path / "said"
    said.mkdir()
    line = 'echo "$(hostname)  $OMPI_COMM_WORLD_RANK $GRADCOMP_SHAPED_LINK it\'s" > "$0/$OMPI_COMM_WORLD_RANK"'
    script = f'{line}; until [ "$(cat "$0"/* | wc -l)" = 3 ]; do sleep 0.05; done; exit $OMPI_COMM_WORLD_RANK'
    done = run("--rate", "50mbit", "--nodes", 3, "--report", report, "--", "bash", "-c", script, said)
    assert done.returncode != 0, done.stderr
    lines = [(said / str(rank)).read_text(encoding="utf-8") for rank in range(3)]
    assert lines == [f"n{i + 1}  {i} 50Mbit/s it's\n" for i in range(3)]
    known = json.loads(report.read_text(encoding="utf-8"))
    assert known["status"] == done.returncode and known["command"] == ["bash", "-c", script, str(said)]
    assert 0.8 <= known["measured_bits_per_s"] / 50e6 <= 1.05 and [link["node"] for link in known["links"]] == ["n1", "n2", "n3"]


@needs_links
def test_a_checkout_may_lie_in_any_folder(tmp_path):
    """Open MPI splits the path of the program that starts ranks on other nodes at spaces."""
    for name in ("tools", "python"):
        shutil.copytree(ROOT / name, tmp_path / name)
    words = [tmp_path / "tools" / "shaped-links", "--rate", "50mbit", "--", "true"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and "n2 sent" in done.stderr, done.stderr


@needs_links
@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
@pytest.mark.parametrize("method", ["fp32", "fp32:reducer=ring", "qsgd", "qsgd:reducer=two_phase"])
def test_the_links_carry_the_bytes_that_programs_count(tmp_path, method):
    """The difference of two runs, in which start and end of the job cancel."""
    few, many, carried = 4, 14, []
    for repetitions in (few, many):
        job = ("gradcomp-allreduce", "--methods", method, "--sizes", 65536, "--repetitions", repetitions)
        done = run("--rate", "200mbit", "--report", tmp_path / "links.json", "--", *job, "--output", tmp_path / "result.json")
        assert done.returncode == 0, done.stderr
        links = json.loads((tmp_path / "links.json").read_text(encoding="utf-8"))["links"]
        carried.append([link["payload_bytes"] for link in links])
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["context"]["gradcomp"]["link"] | {"latency_us": None} == {
        "kind": "shaped", "text": "200Mbit/s", "rate_mbit_s": 200.0, "latency_us": None, "slowed_by": 1.0}
    counted = result["benchmarks"][0]["wire_bytes"]
    for before, after in zip(*carried, strict=True):
        assert (after - before) / (many - few) == pytest.approx(counted, rel=0.03)


@needs_links
@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
@pytest.mark.parametrize("method", ["fp32:strategy=servers", "qsgd:strategy=servers:strategy.answers=coded",
                                    "fp32:strategy=servers:strategy.servers=1", "fp32:reducer=ring:strategy=priority"])
def test_the_links_carry_the_bytes_of_servers_and_of_priority(tmp_path, method):
    """Bytes of a whole step, on the rank that sends most. A longer run has more steps, but the same number of evaluations."""
    few, many, carried = 4, 24, []
    for steps in (few, many):
        job = ("gradcomp-train", "--model", "resnet8", "--data", "shapetex10:train=512:test=32", "--batch", 4, "--steps", steps,
               "--evaluate-every", steps, "--block", steps, "--no-controls", "--methods", method)
        done = run("--rate", "200mbit", "--report", tmp_path / "links.json", "--", *job, "--output", tmp_path / "result.json")
        assert done.returncode == 0, done.stderr
        links = json.loads((tmp_path / "links.json").read_text(encoding="utf-8"))["links"]
        carried.append([link["payload_bytes"] for link in links])
    counted = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["benchmarks"][0]["wire_bytes"]
    sent = max((after - before) / (many - few) for before, after in zip(*carried, strict=True))
    assert sent == pytest.approx(counted, rel=0.03)


@needs_links
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_an_interrupted_job(tmp_path, number):
    mark = f"sleep 4321{number.value}"
    process = start("--rate", "50mbit", "--report", tmp_path / "r.json", "--", *mark.split())

    def alive():
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):  # the process has just ended
                found += [path] if mark.encode() in path.read_bytes().replace(b"\0", b" ") else []
        return found
    end = time.monotonic() + 60
    while len(alive()) < 4 and time.monotonic() < end:  # the tool, its namespace, mpirun and the ranks
        time.sleep(0.2)
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130 and "interrupted" in error
    end = time.monotonic() + 10
    while alive() and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive() and not list(tmp_path.iterdir())


@needs_links
@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_trainings_record_what_the_kernel_counted_beside_what_was_computed(tmp_path):
    """TCP, IP and Ethernet add 66 bytes to 1,448, and acknowledgements as much again where messages are short."""
    words = ("gradcomp-train", "--model", "resnet8", "--data", "shapetex10:train=64:test=32", "--batch", 4, "--steps", 6, "--methods",
             "fp32,qsgd", "--no-controls", "--output", tmp_path / "result.json")
    done = run("--rate", "200mbit", "--", *words)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["benchmarks"]
    assert [row["label"] for row in rows] == ["fp32", "qsgd"]
    for row in rows:
        assert 1.03 < row["counted_bytes"] / row["wire_bytes"] < 1.3, row["label"]


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_an_unknown_interface_is_one_line():
    words = (f"{BIN}/gradcomp-train", "--model", "resnet8", "--data", "shapetex10:train=64:test=32", "--batch", "4", "--steps", "1")
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | {"GRADCOMP_INTERFACE": "no0"})
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "GRADCOMP_INTERFACE=no0: the kernel counts no interface of this name" in done.stderr
