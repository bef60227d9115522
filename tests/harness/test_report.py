"""tools/report: what it shows and what it refuses."""
import html.parser
import json
import pathlib
import re
import subprocess

import pytest

import example_results
from example_records import record
from gradcomp.output import text
from gradcomp.report import answers, frames, tables
from gradcomp.results.reading import read_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "report"


def report(*arguments):
    """Runs the tool as a user does."""
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", name="made")
def fixture_made(tmp_path_factory):
    """A folder with every kind of result and its report."""
    folder = tmp_path_factory.mktemp("results")
    example_results.write_folder(folder)
    done = report(folder, "--markdown", folder / "report.md")
    assert done.returncode == 0, done.stderr
    return folder


class Page(html.parser.HTMLParser):
    """Collects what the tests need, and checks that tags are balanced."""

    VOID = ("meta", "img", "br", "link", "hr")

    def __init__(self):
        super().__init__()
        self.images, self.links, self.cells, self.open = [], [], [], []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.images.append(dict(attrs))
        if tag in ("link", "script"):
            self.links.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)


def test_page_is_one_static_accessible_file(made):
    source = (made / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(source)
    assert page.open == []
    assert page.links == [] and "http" not in source, "nothing is loaded from elsewhere"
    assert len(page.images) == 2 * 3 + 1
    assert all(image["src"].startswith("data:image/png;base64,") and image["alt"] for image in page.images)
    assert '<html lang="en">' in source and "<caption>" in source


def test_plots_are_saved_and_linked_from_markdown(made):
    names = set(re.findall(r"\]\((plots/[^)]+\.png)\)", (made / "report.md").read_text(encoding="utf-8")))
    assert len(names) == 7
    for name in names:
        assert (made / name).read_bytes().startswith(b"\x89PNG")
    assert {f"plots/{path.name}" for path in (made / "plots").iterdir()} == names


def test_table_shows_the_columns_of_the_rows(made):
    page = Page()
    page.feed((made / "report.html").read_text(encoding="utf-8"))
    start = page.cells.index("top_k:ratio=0.01")
    assert page.cells[start:start + 11] == [
        "top_k:ratio=0.01", "21.6 kB", "50.0×", "67.0", "69.0", "955", "94.9 %", "✓ yes", "99.7 %", "1.37×", "1.17×"]


def test_no_speed_up_beside_missed_quality(made, tmp_path):
    page = Page()
    page.feed((made / "report.html").read_text(encoding="utf-8"))
    start = page.cells.index("powersgd:rank=2")
    assert page.cells[start + 7:start + 11] == ["✕ no", "28.6 %", "–", "–"]
    # ... even when a file claims one: it is judged anew.
    document = example_results.train()
    for entry in document["benchmarks"]:
        entry |= {"speedup_vs_fp32": 77.7, "quality_matched": True}
    (tmp_path / "train.json").write_text(json.dumps(document), encoding="utf-8")
    assert report(tmp_path).returncode == 0
    page = Page()
    page.feed((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "77.7×" not in page.cells


def test_energy_is_a_column_only_where_it_was_counted(tmp_path):
    document = example_results.train()
    (tmp_path / "train.json").write_text(json.dumps(document), encoding="utf-8")
    plain, _ = tables.methods(frames.training(read_folder(tmp_path)[0]))
    document["benchmarks"][1]["joules_per_step"] = 12.5
    (tmp_path / "train.json").write_text(json.dumps(document), encoding="utf-8")
    header, rows = tables.methods(frames.training(read_folder(tmp_path)[0]))
    assert header == [*plain, "joules per step"]
    assert {row[0]: row[-1] for row in rows} == dict.fromkeys(example_results.METHODS, text.DASH) | {"fp16": "12.5"}


def test_emulated_links_are_labelled(made):
    source = (made / "report.html").read_text(encoding="utf-8")
    assert "emulated link, 100Mbit/s,50us" in source and "includes an emulated link" in source
    markdown = (made / "report.md").read_text(encoding="utf-8")
    assert markdown.count("**Emulated link**") == 1 and markdown.count("**Includes an emulated link**") == 1


def test_the_answer_comes_first_and_the_environment_last(made):
    for name, begin, variable in (("report.html", '<p class="lead">', '<th scope="row">OMP_NUM_THREADS</th>'),
                                  ("report.md", "# gradcomp report\n\n", "| OMP_NUM_THREADS | ")):
        source = (made / name).read_text(encoding="utf-8")
        assert f"{begin}These runs cannot tell: resnet20 on invented" in source
        assert source.count("OMP_NUM_THREADS") == 1 and variable in source
        assert source.index("Context of each result file") < source.index("OMP_NUM_THREADS")


def test_methods_of_which_the_same_is_said_are_in_one_sentence():
    found = dict.fromkeys("abcdefghij") | {"k": 0, "l": 2000}
    assert answers.crossovers("L", found) == [
        "L: a, b, c, d, e, f, g, h, i and j: does not beat the best dense control at the largest size measured; k beats the best dense "
        "control at every size measured; l beats the best dense control from about 2.00 kB of gradient on."]
    assert answers.crossovers("L", {}) == []


def test_a_training_is_named_by_its_model_and_data(made):
    source = (made / "report.html").read_text(encoding="utf-8")
    assert "<h2>Training resnet20 on invented: real link (2 ranks)</h2>" in source


def test_text_from_files_is_escaped(made):
    source = (made / "report.html").read_text(encoding="utf-8")
    assert "a &lt;fabricated&gt; CPU" in source and "<fabricated>" not in source


def test_speeds_without_a_training_stand_beside_the_error():
    reduced = frames.allreduce(record(example_results.allreduce()))
    header, rows = tables.reductions(reduced)
    assert header[-1] == "NMSE, 16.8 MB"
    found = {row[0]: row[-1] for row in rows}
    assert found["fp32"] == "0" and found["top_k:ratio=0.01"] == "0.250", "the square of the relative error"
    header, rows = tables.kernels(frames.bench(record(example_results.bench())))
    assert header[-1] == "NMSE, 1,024" and rows[0][-1] == "0.500"


def test_crossovers(made):
    records = {record.path.name: record for record in read_folder(made)}
    found = frames.crossovers(frames.allreduce(records["allreduce.json"]))
    assert set(found) == {"top_k:ratio=0.01", "powersgd:rank=2"}, "controls have none"
    assert found["powersgd:rank=2"] is None
    # 0.5 + 4e-7 n = 0.06 + 3e-6 n at n = 169,231; interpolation between 2^14 and 2^18 is coarse
    assert 2**16 < found["top_k:ratio=0.01"] < 2**20
    assert "from about" in text.crossover(found["top_k:ratio=0.01"])
    assert "every size" in text.crossover(0)


def test_crossover_is_the_last_one():
    import numpy as np
    sizes = np.log(np.array([1.0, 10.0, 100.0, 1000.0]))
    assert frames._last_crossing(sizes, np.array([-1.0, 1.0, 1.0, -1.0])) == pytest.approx(10**2.5)
    assert frames._last_crossing(sizes, np.array([-1.0, -1.0, -1.0, -1.0])) == 0
    assert frames._last_crossing(sizes, np.array([-1.0, -1.0, -1.0, 1.0])) is None


def test_numbers():
    assert text.size(1078888) == "1.08 MB" and text.size(12) == "12 B" and text.size(None) == "–"
    assert text.number(0.01234) == "0.0123" and text.number(1234.5) == "1,234" and text.number(float("nan")) == "–"


@pytest.mark.parametrize("content, reason", [
    ("{", "not valid JSON"), ("[]", "$: [] is not of type 'object'"), ('{"context": {}, "benchmarks": []}', "breaks docs/"),
    (json.dumps(example_results.train() | {"benchmarks": []}), "$.benchmarks: [] is too short"),
    (json.dumps(example_results.train() | {"benchmarks": [{"name": "x", "step_time_ms": {}}]}), "'run_name' is a required"),
])
def test_invalid_input_is_one_line(tmp_path, content, reason):
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    done = report(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("gradcomp-report: error: ") and done.stderr.count("\n") == 1, done.stderr
    assert reason in done.stderr
    assert not (tmp_path / "report.html").exists()


def test_missing_input_and_unwritable_output(tmp_path):
    for arguments in ([tmp_path / "nowhere"], [tmp_path], []):
        done = report(*arguments)
        assert done.returncode == 2 and "error: " in done.stderr
    example_results.write_folder(tmp_path)
    done = report(tmp_path, "--output", tmp_path / "train.json" / "x.html")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


def test_texts_are_told_by_perplexity(tmp_path):
    document = example_results.train()
    for row in document["benchmarks"]:
        row |= {"metric": "perplexity", "test_quality": 87.5}
        row["curve"]["quality"] = [None if accuracy is None else 90.0 for accuracy in row["curve"]["accuracy"]]
    (tmp_path / "train.json").write_text(json.dumps(document), encoding="utf-8")
    done = report(tmp_path, "--markdown", tmp_path / "report.md")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "test perplexity" in page and "87.5" in page and "test accuracy" not in page


def test_text_is_for_a_terminal(tmp_path):
    path = tmp_path / "train.json"
    path.write_text(json.dumps(example_results.train()), encoding="utf-8")
    done = report(path, "--text")
    assert done.returncode == 0 and done.stderr == ""
    assert re.search(r"top_k:ratio=0.01 +21.6 kB .* 94.9 % +✓ yes +99.7 % +1.37× +1.17×\n", done.stdout)
    assert done.stdout.startswith("This run cannot tell: resnet20 on invented over real link (2 ranks), because one seed has no "
                                  "interval (at most 1.17× the speed of the best dense).\n\n")
    assert [found.name for found in tmp_path.iterdir()] == ["train.json"], "nothing is written"
    done = report(tmp_path / "none", "--text")
    assert done.returncode == 2 and "is not a directory" in done.stderr
