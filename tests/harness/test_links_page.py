"""tools/links_page: its table, computed by hand, and its quick version if links can be shaped."""
import pathlib
import types

import pytest

import page_files
from gradcomp.links import cli
from gradcomp.pages import links
from test_schema import BIN

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "links_page"


def record(rows):
    return types.SimpleNamespace(rows=rows)


def test_what_is_off_by_more_than_a_tenth_is_far():
    imitated = record([{"label": "fp32", "over_links": [{"rate_mbit_s": rate, "step_time_ms": {"median": time}}
                                                        for rate, time in ((100, 110.0), (300, 44.0))]}])
    real = {rate: record([{"label": "fp32", "step_time_ms": {"median": time}}]) for rate, time in ((100, 100.5), (300, 50.0))}
    header, lines = links.table(imitated, real)
    assert header[1:4] == ["100 Mbit/s: shaped, ms", "emulated, ms", "off"]
    assert lines == [["`fp32`", "100", "110", "+9 %", "50.0", "44.0", "-12 % far"]]


def test_shaped_links_are_slower_where_ranks_share_cores():
    rates = {job.name: job.words[job.words.index("--rate") + 1] for job in links.PAGE.jobs(types.SimpleNamespace(quick=False))
             if "--rate" in job.words}
    assert rates["resnet20_2_300mbit"] == "300mbit" and rates["resnet20_4_300mbit"] == "150mbit"
    assert len(rates) == 2 * 2 * len(links.RATES)


@pytest.mark.skipif(not BIN or bool(cli.why_not()), reason=f"no shaped links on this machine: {cli.why_not() or 'GRADCOMP_BIN'}")
def test_quick_page(tmp_path):
    source, lines = page_files.quick(TOOL, tmp_path)
    assert lines == ["fp32", "fp16", "bf16", "no_exchange", *links.METHODS] and "resnet8, 2 ranks" in source
