"""docs/results/mercury.md: importance sampling: the steps that it saves, and the time that it costs and where."""
from typing import ClassVar

from . import mercury_links, mercury_losses, mercury_samplers
from .page import UNKNOWN, SectionedPage

SECTIONS = {"losses": mercury_losses, "samplers": mercury_samplers, "links": mercury_links}


class Mercury(SectionedPage):
    name, tool, complete, sections = "mercury", "mercury_page", False, SECTIONS
    about = "Trains on batches drawn by importance, in memory and over shaped links. Needs root and a quiet machine."
    programs = ("gradcomp-train", "mpirun")
    sources = ("python/gradcomp/links", "python/gradcomp/pages/mercury_losses.py")
    title = "importance sampling"
    introduction: ClassVar[list] = [
        "[Importance sampling](../importance-sampling.md) computes the losses of samples while gradients travel. Every rank has one "
        "thread. All samplers of a table "
        "have the same learning rate, found for uniform batches on the validation set, and validate equally often. "
        "Intervals are 95 % over the seeds (Student's; with few seeds the end of an interval can exceed 100 %).", ""]

    def answer(self, records, options):
        said, table = mercury_links.answer(records, options.quick)
        return " ".join(filter(None, [said, mercury_samplers.answer(records, options.quick)])) or UNKNOWN, table


PAGE = Mercury()
