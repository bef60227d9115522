"""gradcomp-train --describe: bytes per step of models, including models that do not train here."""
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
    done = run("gradcomp-train", "--describe", "--model", model, "--methods", ",".join(METHODS), "--no-controls",
               "--output", tmp_path / "F.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "F.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(document)
    rows = {row["method"]: row for row in document["benchmarks"]}
    parameters, payload = BYTES[model]
    assert [rows[method]["payload_bytes"] for method in METHODS] == payload
    assert {row["parameters"] for row in rows.values()} == {parameters}


def test_a_model_of_other_data_does_not_train(tmp_path):
    done = run("gradcomp-train", "--model", "lstm_3x650", "--data", "shapetex10:train=64:test=16", "--output",
               tmp_path / "F.json")
    one_line("gradcomp-train", done)
    assert "model 'lstm_3x650' takes tokens, but the data are images" in done.stderr and not list(tmp_path.iterdir())
