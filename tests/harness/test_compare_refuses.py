"""What tools/gradcomp-compare refuses, each with one line."""
import json

import pytest

import compare_files
import example_results
from compare_files import compare, edit, refused, write_arm

pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("key, change", [
    ("cpu_model", lambda made: made["context"]["gradcomp"].update(cpu_model="another")),
    ("threads", lambda made: made["context"]["gradcomp"].update(threads=2)),
    ("kokkos_backend", lambda made: made["context"]["gradcomp"].update(kokkos_backend="Serial")),
    ("compiler", lambda made: made["context"]["gradcomp"].update(compiler="Clang 1")),
    ("build_type", lambda made: made["context"]["gradcomp"].update(build_type="Debug")),
    ("options.samples", lambda made: made["context"]["gradcomp"]["options"].update(samples=6)),
    ("options.cache", lambda made: made["context"]["gradcomp"]["options"].update(cache="cold")),
    ("options.stream", lambda made: made["context"]["gradcomp"]["options"].update(stream=5)),
    ("options.interleave", lambda made: made["context"]["gradcomp"]["options"].update(interleave=True)),
    ("caches", lambda made: made["context"]["caches"][0].update(size=65536)),
    ("environment.OMP_NUM_THREADS", lambda made: made["context"]["gradcomp"]["environment"].clear()),
    ("method_canonical", lambda made: made["benchmarks"][0].update(method_canonical="top_k:ratio=0.1")),
    ("elements", lambda made: made["benchmarks"][0].update(elements=7)),
    ("case read/1048576 is missing", lambda made: made["benchmarks"].pop())])
def test_not_comparable_names_the_key(tmp_path, key, change):
    baseline, new = write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b", change=change)
    refused(compare(baseline, new, "--json", tmp_path / "out.json"), "not comparable", key)
    assert not (tmp_path / "out.json").exists()
    edit(baseline / "004.json", change)
    key = key.removesuffix(" is missing")
    refused(compare(baseline, baseline), "the processes of BASELINE differ", key, "004.json")


def test_older_files_are_refused_with_the_way_to_renew_them(tmp_path):
    def older(made):
        del made["context"]["gradcomp"]["options"]["cache"]
    baseline, new = write_arm(tmp_path / "a", "a", change=older), write_arm(tmp_path / "b", "b")
    refused(compare(baseline, new), "lack options.cache", "--refresh", "accept the new night")
    assert compare(baseline, baseline).returncode == 0, "equal settings as far as they are known"
    assert compare(baseline, new, "--allow", "options.cache").returncode == 0


@pytest.mark.parametrize("content, words", [
    ('{"context": {', ["not valid JSON"]), ("[]", ["at $: [] is not of type 'object'"]), ("", ["not valid JSON"]),
    (json.dumps(example_results.train()), ["gradcomp-train"]),
    (json.dumps(compare_files.document(1) | {"benchmarks": [{"name": "x"}]}), ["is a required property"]),
    (json.dumps(compare_files.document(1) | {"benchmarks": []}), ["[] is too short"])])
def test_invalid_files_are_one_line(tmp_path, content, words):
    baseline, new = write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b")
    (new / "005.json").write_text(content, encoding="utf-8")
    refused(compare(baseline, new), "005.json", *words)


@pytest.mark.parametrize("change, words", [
    (lambda made: made["benchmarks"][0].update(times_ms=[0.0]), ["median time"]),
    (lambda made: made["benchmarks"][0].update(times_ms=["x"]), ["'x' is not"]),
    (lambda made: made["benchmarks"].append(made["benchmarks"][0]), ["twice"]),
    (lambda made: made["context"]["gradcomp"].update(failures=["density"]), ["failed run"]),
    (lambda made: made["context"]["gradcomp"].pop("compiler"), ["compiler"]),
    (lambda made: made["context"]["gradcomp"].update(options=[]), ["options"]),
    (lambda made: made["context"].update(date=3), ["date"]),
    (lambda made: made["context"]["gradcomp"].update(git_hash="other"), ["git_hash"])])
def test_wrong_contents_are_one_line(tmp_path, change, words):
    baseline, new = write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b")
    edit(new / "005.json", change)
    refused(compare(baseline, new), "005.json", *words)


def test_too_few_processes_and_missing_files(tmp_path):
    baseline = write_arm(tmp_path / "a", "a")
    refused(compare(baseline, write_arm(tmp_path / "b", "b", processes=9)), "too few processes", "NEW has 9")
    refused(compare(baseline, tmp_path / "nowhere"), "nowhere")
    refused(compare(baseline, tmp_path / "*.none"), "no result files")
    refused(compare(baseline), "1 arms where 2 belong")
    refused(compare(baseline, baseline, "--json", tmp_path / "no" / "x.json"), "cannot write")
    refused(compare(baseline, baseline, "--filter", "("), "not a regular expression")
    refused(compare(baseline, baseline, "--filter", "nothing"), "no cases that match 'nothing'")
    (baseline / "099.json").write_bytes((baseline / "000.json").read_bytes())
    refused(compare(baseline, baseline), "same process twice")
    many = {f"compress/x/{number}": 1.0 for number in range(2000)}
    refused(compare(*(write_arm(tmp_path / name, name, processes=10, cases=many) for name in "cd")), "can never show")
