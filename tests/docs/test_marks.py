"""The runner of shell blocks must notice a broken command, a mark without a reason, and a language that it would overlook."""
import pathlib
import re

import pytest

import runner
from blocks import ROOT, Block, MarkError, read

PAGE = """# A made-up page

```sh
./run exec -- printf 'one\\n' > one.txt
```

Text.

<!-- not run: needs a cluster -->
```sh
false
```

- an item
  ```sh
  cat one.txt
  ```

<!-- exit status: 0 or 3 -->
```sh
exit 3
```

```cpp
not_a_command();
```
"""


def test_blocks_and_marks():
    first, second, third, fourth = read(PAGE, "page.md")
    assert (first.place, first.reason, first.statuses) == ("page.md:3", "", (0,))
    assert (second.reason, second.code) == ("needs a cluster", "false\n")
    assert third.code == "cat one.txt\n"
    assert fourth.statuses == (0, 3)


@pytest.mark.parametrize("text", [
    "<!-- not run: -->\n```sh\ntrue\n```\n", "<!-- not run -->\n```sh\ntrue\n```\n", "<!-- run: x -->\n```sh\ntrue\n```\n",
    "<!-- not run: far away -->\n\n```sh\ntrue\n```\n", "<!-- not run: of C++ -->\n```cpp\n```\n",
    "<!-- exit status: any -->\n```sh\ntrue\n```\n", "```bash\ntrue\n```\n", "```console\n$ true\n```\n",
    "```sh\nnever closed\n", "<!-- not run: at the end -->\n"])
def test_wrong_marks_are_refused(text):
    with pytest.raises(MarkError) as refused:
        read(text, "page.md")
    assert str(refused.value).startswith("page.md:") and "\n" not in str(refused.value)


def test_other_comments_are_no_marks():
    assert len(read("<!-- file: a.cpp -->\n```cpp\n```\n<!-- history -->\n\n```sh\ntrue\n```\n", "page.md")) == 1


def test_blocks_of_a_page_run_in_order_in_one_copy(tmp_path):
    folder = runner.project(tmp_path / "gradcomp")
    outputs = [runner.run(block, folder) for block in read(PAGE, "page.md") if not block.reason]
    assert outputs == ["", "one\n", ""]
    assert not (ROOT / "one.txt").exists() and not (folder / ".git").exists()


@pytest.mark.parametrize("command, how", [
    ("false\ntrue\n", "status 1"), ("false | true\n", "status 1"), ("echo $NO_SUCH_VARIABLE\n", "status 1"),
    ("./run exec -- gradcomp-train --no-such-option\n", "status"), ("./run exec -- gradcomp-nothing\n", "status 1"),
    ("sleep 60\n", "more than 1 s")])
def test_a_broken_command_is_seen(command, how, tmp_path):
    (tmp_path / "run").symlink_to(ROOT / "run")
    with pytest.raises(runner.BlockError) as failed:
        runner.run(Block("page.md", 3, command), tmp_path, limit=1 if command.startswith("sleep") else 60)
    assert str(failed.value).startswith("page.md:3: the block ") and how in str(failed.value)


def test_a_page_with_a_broken_command_fails(tmp_path):
    """Runs the test of the real pages on a page whose command has a typing error."""
    here = pathlib.Path(__file__).resolve().parent
    copy = tmp_path / "tests" / "docs"
    copy.mkdir(parents=True)
    for name in ("blocks.py", "runner.py", "conftest.py", "test_shell_blocks.py"):
        (copy / name).write_text((here / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        (tmp_path / name).write_text("# Empty\n", encoding="utf-8")
    (tmp_path / "docs" / "page.md").write_text("```sh\nprintf one\n```\n\n```sh\nprintff two\n```\n", encoding="utf-8")
    command = ["python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}",
               str(copy / "test_shell_blocks.py"), "-k", "test_page"]
    done = runner.subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1 and re.search(r"docs/page.md:5: the block ended with status 127", done.stdout)
    assert "shell blocks: 1 executed" in done.stdout
