"""Tables and the figure of trainings over several emulated links, which take turns in a run: from which link down does a method
pay?"""
from gradcomp.report import plots, verdicts

from .training_verdicts import by_ranks, trained


def table(record):
    """The steps over each link, and from which link down each method pays; None if there is one link."""
    found = verdicts.links(trained(record).values())
    return found and (found[0], [[f"`{label}`", *cells] for label, (_, *cells) in zip(trained(record), found[1], strict=True)])


def answers(swept):
    """From which link down each compressing method pays, with the number of ranks of each record."""
    found, labels = by_ranks(swept)
    lines = [[f"`{label}`", *(methods[label].pays() if methods[label].matched else methods[label].quality()
                              for methods in found.values())] for label in labels]
    return ["method", *found], lines


def figure(swept):
    """Speed-ups by the rate of the link, one panel per record. Returns (figure, alternative text)."""
    return plots.links([(f"{record.gradcomp['ranks']} ranks", trained(record)) for record in swept])
