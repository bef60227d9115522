"""docs/results/exchange.md: what the exchange costs: over slow links, beside a slow rank, and with more ranks."""
from typing import ClassVar

from gradcomp.output import text

from . import exchange_bars, exchange_scaling, exchange_stragglers, one_gradient
from .page import UNKNOWN, SectionedPage

SECTIONS = {"bars": exchange_bars, "stragglers": exchange_stragglers, "scaling": exchange_scaling}


class Exchange(SectionedPage):
    name, tool, complete, sections = "exchange", "exchange_page", False, SECTIONS
    about = "Trains over shaped links, with a slow rank, and with 1 to 4 ranks. Needs root and a quiet machine."
    programs = ("gradcomp-tune", "gradcomp-train", "gradcomp-evaluate", "mpirun")
    sources = ("python/gradcomp/links",)
    title = "what the exchange costs"
    introduction: ClassVar[list] = [
        "*Yes*: the whole interval of the ratio is above 1, *open*: it contains 1; no word: "
        "there is none. What exchanging rarely keeps of the quality is on [a page "
        "of its own](local-steps.md). Every rank has one thread. "
        "Where a title names a rate, the kernel shapes the links ([how](../links.md)); all other ranks share memory.", "",
        "The tables over links and those of scaling are **throughput only**: their few steps, at one learning rate "
        "for all methods, say nothing about quality. Where [the page of training](training.md) has trained the same "
        "method on the same model with as many ranks, its verdict stands in the column *quality*; a dash means that "
        "it has not. That training had tuned rates, other batches, and on images more noise. *Best dense* and *best "
        "compressed* are the fastest of their kind in a table, whatever their quality. Rings, and dense methods with priority, count as "
        "dense. The bucket sizes of `fp32`, `fp16` and `bf16` were swept, those of the other dense methods were not; if none was, it "
        "says *fastest dense*. The fastest are chosen by the mean times of few steps of one run: where methods differ by a few per "
        "cent, another run may choose another one. Steps are means, ratios geometric means over the blocks of steps that methods run "
        "in turn. Intervals are 95 %, by Student's t over these blocks; with one block there is none. Those of the ratios of compressed "
        "methods hold together for all of a table (Bonferroni's correction). A figure whose interval spans more than a factor of "
        f"{text.WIDEST} is *{text.UNMEASURED}*. {one_gradient.NOTE} {one_gradient.ALONE} `sign` loses the scale: its NMSE is that of "
        "+-1. The gradient is of one rank that trains with `fp32`, with the data, the batch and the largest number of steps of the "
        "tables of its model over links.", ""]

    def answer(self, records, options):
        said, table = exchange_bars.answer(records, options.quick)
        return " ".join(filter(None, [said, exchange_stragglers.answer(records)])) or UNKNOWN, table

    def accepts(self, kept, words):
        return exchange_bars.accepts(kept, words)


PAGE = Exchange()
