"""docs/results/letters.md: which methods keep the quality of fp32 on a real task on which ranks must exchange, with 2, 4 and 8
ranks."""
from gradcomp.output import text

from . import training_verdicts
from .training import Training


class Letters(Training):
    name, tool, title = "letters", "letters_page", "letters of fonts"
    about = "Trains on letters of fonts, a real task on which ranks must exchange, with 2, 4 and 8 ranks."

    def answer(self, found):
        columns, labels = training_verdicts.by_ranks(found)
        lost = text.listed([training_verdicts.behind(methods["no_exchange"].total) for methods in columns.values()])
        return (f"Ranks that never exchange lose {lost} of accuracy, with {text.listed(list(columns))}. What compression keeps of the "
                "quality of `fp32`:",
                (["method", *columns],
                 [[f"`{label}`", *(training_verdicts.short(methods[label]) for methods in columns.values())] for label in labels]))


PAGE = Letters()
