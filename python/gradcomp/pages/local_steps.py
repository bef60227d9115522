"""docs/results/local-steps.md: the quality that training keeps if replicas exchange rarely, and the bytes that it saves."""
from .training import Training


class LocalSteps(Training):
    name, tool, title = "local-steps", "local_steps_page", "local steps"
    about = "Trains with local steps on a text and on images, with even and skewed shards: what does exchanging rarely cost?"


PAGE = LocalSteps()
