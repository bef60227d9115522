"""Builds that do a known amount of additional work, for the experiments on the gate."""
import contextlib

from gradcomp.errors import ToolError
from gradcomp.gate.interleave import find_program
from gradcomp.history.building import Unbuildable, build
from gradcomp.history.repository import work_trees
from gradcomp.results.records import ROOT

KERNEL = "src/gradcomp/kernels/select/count_above.cpp"
COUNT = """  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t t) const {
"""
SLOWER_COUNT = """  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t t) const {{
    const index_t times = 1 + ((t + 1) * {percent} + 99) / 100 - (t * {percent} + 99) / 100;
    for (index_t i = 0; i < times; ++i) count(warp, t);  // some tiles more than once, with the same answer
  }}

  KOKKOS_FORCEINLINE_FUNCTION void count(const Warp& warp, index_t t) const {{
"""


def changed(source, percent):
    """The text of KERNEL with at least `percent` per cent more work in the kernel. Throws ToolError."""
    if source.count(COUNT) != 1 or " void count(" in source:
        raise ToolError(f"'{KERNEL}' does not have the loop that is to be made slower (python/gradcomp/pages/slower.py)")
    return source.replace(COUNT, SLOWER_COUNT.format(percent=percent))


@contextlib.contextmanager
def built(percent, commit, folder):
    """Builds gradcomp-bench from the sources of `commit`, with `percent` per cent (a whole number) more work in the kernel
    count_above, in a work tree below `folder` that exists while the block runs. Throws ToolError."""
    with work_trees(ROOT, folder, ["slower"], commit) as trees:
        tree = trees["slower"]
        kernel = tree / KERNEL
        kernel.write_text(changed(kernel.read_text(encoding="utf-8"), percent), encoding="utf-8")
        try:
            build("./run build openmp gradcomp-bench", tree, folder / "build.log")
        except Unbuildable as error:
            raise ToolError(f"the slower build: {error}") from error
        yield find_program(tree / "build" / "openmp")
