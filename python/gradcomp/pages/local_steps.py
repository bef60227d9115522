"""docs/results/local-steps.md: the quality that training keeps if replicas exchange rarely, and the bytes that it saves."""
from gradcomp.output import text

from . import training_verdicts
from .training import Training

PLAIN = "fp32:strategy=local:strategy.period="


class LocalSteps(Training):
    name, tool, title = "local-steps", "local_steps_page", "local steps"
    about = "Trains with local steps on a text and on images, with even and skewed shards: what does exchanging rarely cost?"

    def answer(self, found):
        columns = {f"`{record.rows[0]['model']}`{', skewed' if record.gradcomp['options']['skew'] else ''}":
                   training_verdicts.trained(record) for record in found}
        labels = [label for label in next(iter(columns.values())) if label.removeprefix(PLAIN).isdecimal()]
        every = [training_verdicts.short(methods[label]) for methods in columns.values() for label in labels]
        return (f"Replicas that exchange only every so many steps keep the quality of `fp32` in {every.count('kept')} of {len(every)} "
                f"trainings, miss it in {every.count('missed')} and leave it open in {every.count('open')}. How far they end behind "
                "`fp32`:",
                (["steps between exchanges", *columns],
                 [[label.removeprefix(PLAIN), *(training_verdicts.behind(methods[label].total) if label in methods else text.DASH
                                                for methods in columns.values())] for label in labels]))


PAGE = LocalSteps()
