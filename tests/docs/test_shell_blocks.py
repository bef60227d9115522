"""Every shell block of README.md, CONTRIBUTING.md and docs/ runs, page by page and in order, or says why it does not."""
import re
import shutil

import pytest

import runner
from blocks import ROOT, pages, read

BLOCKS = {page: read((ROOT / page).read_text(encoding="utf-8"), page) for page in pages()}
WITH_BLOCKS = [page for page, blocks in BLOCKS.items() if blocks]


def test_no_block_is_overlooked():
    lines = [line for page in pages() for line in (ROOT / page).read_text(encoding="utf-8").splitlines()]
    fences = [line for line in lines if re.match(r"\s*(```|~~~)\s*(sh|bash|shell|console)\b", line)]
    assert len(fences) == sum(len(blocks) for blocks in BLOCKS.values()) > 20


@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_page(page, tmp_path):
    unmarked = [block for block in BLOCKS[page] if not block.reason]
    runner.MARKED += [block.reason for block in BLOCKS[page] if block.reason]
    folder = runner.project(tmp_path / "a b#c") if unmarked else None
    for block in unmarked:
        runner.run(block, folder)
    if folder:
        shutil.rmtree(folder)  # pytest keeps what a test leaves, but only the folder of a failure is of use
