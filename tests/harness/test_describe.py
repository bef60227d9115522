"""gradcomp-methods --describe: bytes per step of models, including models that do not train here."""
import json

import pytest

from test_schema import BIN, VALIDATOR, one_line, run

pytestmark = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")

METHODS = ["fp32", *(f"powersgd:rank={rank}" for rank in (1, 2, 4))]
BYTES = {  # parameters, and bytes of METHODS: Vogels et al. 2019, appendix
    "resnet20": (269722, [1078888, 31164, 56784, 108024]),
    "resnet18": (11173962, [44695848, 183740, 329040, 619640]),
    "lstm_3x650": (28949319, [115797276, 373952, 570028, 962180]),
}


@pytest.mark.parametrize("model", BYTES)
def test_bytes_of_a_model(model, tmp_path):
    done = run("gradcomp-methods", "--describe", "--model", model, "--methods", ",".join(METHODS), "--output",
               tmp_path / "F.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "F.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(document)
    rows = {row["method"]: row for row in document["benchmarks"]}
    parameters, payload = BYTES[model]
    assert [rows[method]["payload_bytes"] for method in METHODS] == payload
    assert {row["parameters"] for row in rows.values()} == {parameters}


@pytest.mark.parametrize("what, expected", [
    ("text", "top_k:ratio=0.01"), ("markdown", "# Methods"), ("json", '"name": "top_k"'), ("strategies", "overlapped"),
    ("samplers", "mercury"), ("transports", "mpi")])
def test_lists(what, expected):
    done = run("gradcomp-methods", f"--list={what}")
    assert done.returncode == 0 and expected in done.stdout, done.stderr
    assert what != "text" or done.stdout == run("gradcomp-methods").stdout


@pytest.mark.parametrize("arguments, said", [
    (("--list=models",), "not in {text,json,markdown,strategies,samplers,transports}"), (("--output", "F.json"), "--describe"),
    (("--describe", "--methods", "no_such"), "no_such"), (("--describe", "--model", "no_such"), "no_such"),
    (("--describe", "--bucket-kib", "0"), "--bucket-kib 0 is not allowed; it must be auto or at least 1")])
def test_wrong_arguments_of_the_list_are_one_line(arguments, said, tmp_path):
    done = run("gradcomp-methods", *arguments)
    one_line("gradcomp-methods", done)
    assert said in done.stderr


@pytest.mark.parametrize("program, option, now", [
    ("gradcomp-train", "--tune", "gradcomp-tune"), ("gradcomp-train", "--tune-steps=2", "gradcomp-tune"),
    ("gradcomp-train", "--sweep-buckets", "gradcomp-tune --buckets-only, and give its file to --rates"),
    ("gradcomp-train", "--describe", "gradcomp-methods --describe"), ("gradcomp-train", "--list=markdown", "gradcomp-methods"),
    ("gradcomp-allreduce", "--list", "gradcomp-methods"), ("gradcomp-evaluate", "--list=json", "gradcomp-methods")])
def test_former_options_name_the_program_that_has_them(program, option, now):
    done = run(program, option)
    one_line(program, done)
    assert f"{option.split('=')[0]} is no option here: run {now}" in done.stderr


def test_a_model_of_other_data_does_not_train(tmp_path):
    done = run("gradcomp-train", "--model", "lstm_3x650", "--data", "shapetex10:train=64:test=16", "--output",
               tmp_path / "F.json")
    one_line("gradcomp-train", done)
    assert "model 'lstm_3x650' takes tokens, but the data are images" in done.stderr and not list(tmp_path.iterdir())
