"""docs/claims.md: verdicts on what authors say, from intervals and from judged trainings."""
import types

import pytest

import tool_process
from gradcomp.pages import claims, frame
from gradcomp.places import ROOT


@pytest.mark.parametrize("low, high, word", [
    (2.0, 3.0, claims.REPRODUCED), (1.5, 2.0, claims.OPEN), (0.5, 2.5, claims.OPEN), (1.1, 1.9, claims.NOT_REACHED),
    (0.9, 1.9, claims.NOT_REACHED), (0.5, 0.9, claims.OPPOSITE)])
def test_a_claimed_ratio_is_judged_by_the_whole_interval(low, high, word):
    assert claims._judged(low, high, 2.0) == word


def training(**methods):
    """The judged rows of a training with two seeds, from {label: (behind fp32, matched, low and high of its share of the gap)}."""
    rows = []
    for label, (lack, matched, low, high) in methods.items():
        facts = {"label": label, "metric": "accuracy", "model": "m", "quality_matched": matched, "task_tells": True, "method": label}
        rows += [facts | {"step_time_ms": {"mean": 1}, "lack_allowed": 0.02, "role": "method", "seed": seed} for seed in (1, 2)]
        rows.append(facts | {"run_type": "aggregate", "lack_over_seeds": {"mean": lack, "low": lack, "high": lack},
                             "gap_share_over_seeds": {"mean": low, "low": low, "high": high}})
    return types.SimpleNamespace(rows=rows, path="p", gradcomp={"ranks": 4})


@pytest.mark.parametrize("labels, word", [
    (("good",), claims.REPRODUCED), (("good", "missed"), claims.NOT_REACHED), (("good", "open"), claims.OPEN),
    (("good", "missed", "alone"), claims.OPPOSITE)])
def test_a_quality_that_is_worse_than_without_an_exchange_is_the_opposite(monkeypatch, labels, word):
    run = training(good=(0.0, True, 0.9, 1.0), open=(0.01, False, 0.4, 0.9), missed=(0.05, False, 0.1, 0.2),
                   alone=(0.2, False, -0.5, -0.1))
    monkeypatch.setattr(claims, "kept", lambda name: run)
    said, verdict = claims._quality([("training/x", label) for label in labels])
    assert verdict == word and said.startswith("0.0 (0.0 to 0.0) points behind `fp32` (`m`, 4 ranks)")
    assert ("worse than without an exchange" in said) == ("alone" in labels)


def test_what_contradicts_the_records_comes_first(tmp_path):
    made = tmp_path / "claims.md"
    done = tool_process.call(lambda: frame.main(claims.PAGE), ROOT / "tools/claims_page", "--output", made)
    assert done.returncode == 0, done.stderr
    lines = [line.split(" | ") for line in made.read_text(encoding="utf-8").splitlines() if " | **" in line]
    words = [line[3].strip("*") for line in lines]
    assert words == sorted(words, key=list(claims.VERDICTS).index) and len(words) == len(claims.CLAIMS)
    assert {line[0].strip("| ") for line in lines} == {claim.by for claim in claims.CLAIMS}
    assert all("results/" in line[5] for line, word in zip(lines, words, strict=True) if word != claims.UNTESTABLE)
