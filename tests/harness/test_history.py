"""tools/gradcomp-history: the page names a slow-down of one method with its commit, but no noise."""
import html
import html.parser
import json
import re

import pytest

from compare_files import CASE
from history_files import COUNTED, git, history, refused, repository, write_counts, write_times

pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")

NIGHTS, SLOW_FROM = 8, 5


def run_nights(tmp_path, slow=(), counts=None, noise=0.03, measured=range(1, NIGHTS + 1)):
    """Adds one night for each measured commit, as a runner does. Every night has a machine with another speed. Returns
    (commits, statuses of check)."""
    commits = repository(tmp_path / "source", [{"file": str(number)} for number in range(NIGHTS)])
    statuses = []
    for day in measured:
        commit, records = commits[day - 1][:12], tmp_path / f"records{day}"
        write_times(records, commit, day, noise=noise, machine=1 + 0.05 * (day % 3),
                    slow=dict.fromkeys(slow, 1.3) if day >= SLOW_FROM else None)
        write_counts(records / "counts.json", commit, day, (counts or {}).get(day, 500_000))
        done = history("add", tmp_path / "history", records)
        assert done.returncode == 0, done.stderr
        statuses.append(history("check", tmp_path / "history", "--repository", tmp_path / "source").returncode)
    return commits, statuses


def page(tmp_path):
    """The text of the page."""
    done = history("page", tmp_path / "history", "--output", tmp_path / "page.html", "--repository", tmp_path / "source")
    assert done.returncode == 0, done.stderr
    return html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))


def test_slow_down_of_one_method_is_named_with_its_commit(tmp_path):
    commits, statuses = run_nights(tmp_path, slow=[CASE])
    assert statuses == [0] * 4 + [1] * 4
    verdicts = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((tmp_path / "history").glob("*/verdict.json"))]
    assert {verdict["good"][-12:] for verdict in verdicts[4:]} == {commits[3][:12]}, "a slow night is no baseline"
    text = page(tmp_path)
    assert "1 open regression." in text
    notes = re.findall(r"<li>(.*)</li>", text)
    [found] = [note for note in notes if note.startswith(f"{CASE}: slower by")]
    assert f"since night 2025-01-05, commit {commits[4][:12]}: Change number 5." in found
    percent = float(re.search(r"slower by ([\d.]+) %", found)[1])
    assert 20 < percent < 40
    assert not any(commit[:12] in found for place, commit in enumerate(commits) if place != 4)
    done = history("check", tmp_path / "history", "--repository", tmp_path / "source")
    assert done.returncode == 1 and found in done.stdout


def test_noise_alone_raises_no_alarm(tmp_path):
    _, statuses = run_nights(tmp_path, noise=0.04)
    assert 1 not in statuses and statuses[0] == 0
    assert "0 open regressions." in page(tmp_path)


def test_instructions_name_the_commit_whatever_the_clock_says(tmp_path):
    commits, statuses = run_nights(tmp_path, counts=dict.fromkeys(range(SLOW_FROM, NIGHTS + 1), 650000), noise=0.3)
    assert [status == 1 for status in statuses] == [False] * 4 + [True] * 4
    text = page(tmp_path)
    assert (f"{COUNTED}: instructions 500000 -> 650000; since night 2025-01-05, commit "
            f"{commits[4][:12]}: Change number 5.") in text


def test_each_case_has_its_own_last_good_night(tmp_path):
    """While a regression is open, no night is good as a whole. Another case passes until it becomes slow."""
    commits, statuses = run_nights(tmp_path, slow=[CASE], counts=dict.fromkeys(range(3, 9), 650_000), measured=range(1, 7))
    assert statuses == [0, 0, 1, 1, 1, 1]
    notes = re.findall(r"<li>(.*)</li>", page(tmp_path))
    assert [f"commit {commits[2][:12]}: Change number 3." in note for note in notes if note.startswith(COUNTED)] == [True]
    assert [f"commit {commits[4][:12]}: Change number 5." in note for note in notes if note.startswith(CASE)] == [True]


def test_commits_between_two_nights_are_a_range(tmp_path):
    commits, statuses = run_nights(tmp_path, slow=[CASE], measured=(1, 2, 3, 7))
    assert statuses == [0, 0, 0, 1]
    text = page(tmp_path)
    assert f"one of 4 commits after {commits[2][:12]}, up to {commits[6][:12]}" in text and f"--case '{CASE}' finds it" in text


def test_inconclusive_nights_are_no_baseline(tmp_path):
    _, statuses = run_nights(tmp_path, noise=0.2, measured=(1, 2, 3))
    assert statuses == [0, 3, 3]
    done = history("check", tmp_path / "history", "--repository", tmp_path / "source")
    assert f"{CASE}: inconclusive: " in done.stdout and "against 2025-01-01" in done.stdout and done.returncode == 3


def test_regression_closes_when_it_is_gone(tmp_path):
    _, statuses = run_nights(tmp_path, counts={3: 650_000, 4: 650_000})
    assert statuses == [0, 0, 1, 1, 0, 0, 0, 0]
    assert "0 open regressions." in page(tmp_path)


def test_small_steps_add_up(tmp_path):
    """A slow-down of 0.8 % per night is below the limit of the gate, but the sum since the first night is not."""
    _, statuses = run_nights(tmp_path, counts={day: 500_000 + 4_000 * (day - 1) for day in range(1, 9)})
    assert statuses[:2] == [0, 0] and statuses[2:] == [1] * 6
    text = page(tmp_path)
    assert "many small steps add up" in text and "after" in text


def test_accepted_change_is_the_new_baseline(tmp_path):
    commits, statuses = run_nights(tmp_path, counts=dict.fromkeys(range(SLOW_FROM, NIGHTS + 1), 650000))
    assert statuses == [0] * 4 + [1] * 4
    refused(history("accept", tmp_path / "history", "0123456", "--reason", "why"), "no night of commit '0123456'",
            commits[0][:12])
    refused(history("accept", tmp_path / "history", commits[4], "--reason", " "), "--reason is empty")
    assert history("accept", tmp_path / "history", commits[4], "--reason", "Exact sums cost more").returncode == 0
    done = history("check", tmp_path / "history", "--repository", tmp_path / "source")
    assert done.returncode == 0 and f"_{commits[6][:12]}" in done.stdout, "the nights after it are judged anew"
    text = page(tmp_path)
    assert "0 open regressions." in text and "accepted: Exact sums cost more" in text


class Tags(html.parser.HTMLParser):
    """Collects everything that a page could fetch."""

    def __init__(self):
        super().__init__()
        self.fetched = []

    def handle_starttag(self, tag, attrs):
        self.fetched += [value for key, value in attrs
                         if key in ("src", "href", "data") and not value.startswith(("data:", "#"))]
        assert tag not in ("script", "link", "iframe", "object")


def test_page_needs_nothing_else(tmp_path):
    run_nights(tmp_path, slow=[CASE], measured=(1, 2, 5))
    text = page(tmp_path)
    tags = Tags()
    tags.feed((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert tags.fetched == [] and text.count("<figure>") == 5, "four cases with times, one with instructions"
    assert f'alt="{CASE}: throughput of 3 nights; slower since ' in text
    first = (tmp_path / "page.html").read_bytes()
    page(tmp_path)
    assert (tmp_path / "page.html").read_bytes() == first, "the same history gives the same page"


def test_last_good_commit_measured_in_turn_is_the_baseline(tmp_path):
    """The night of another day ran on a machine of half the speed, on which even the share of the read limit differs."""
    commits = repository(tmp_path / "source", [{"file": str(number)} for number in range(2)])
    write_times(tmp_path / "one", commits[0][:12], 1)
    history("add", tmp_path / "history", tmp_path / "one")
    other_day = {CASE: 1.6, "decompress/top_k/1048576": 1.6, "pair/top_k/1048576": 1.6}
    write_times(tmp_path / "two", commits[0][:12], 2, processes=20, label="A", slow=other_day)
    write_times(tmp_path / "two", commits[1][:12], 2, processes=10, label="B", slow=other_day)
    assert history("add", tmp_path / "history", tmp_path / "two").returncode == 0
    done = history("check", tmp_path / "history", "--repository", tmp_path / "source")
    assert done.returncode == 0, done.stdout
    verdicts = sorted((tmp_path / "history").glob("*/verdict.json"))
    assert json.loads(verdicts[-1].read_text(encoding="utf-8"))["in_turn"]


def test_same_commit_slower_is_the_machine(tmp_path):
    [commit] = repository(tmp_path / "source", [{"file": "1"}])
    for day, slow in ((1, None), (2, {CASE: 1.3})):
        write_times(tmp_path / str(day), commit[:12], day, slow=slow)
        history("add", tmp_path / "history", tmp_path / str(day))
    done = history("check", tmp_path / "history", "--repository", tmp_path / "source")
    assert done.returncode == 1 and "the machine changed and not the code" in done.stdout
    assert git(tmp_path / "source", "status", "--porcelain") == ""
