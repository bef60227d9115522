"""docs/results/scale.md: over which links compression pays, with 2, 4 and 8 ranks."""
from .training import Training


class Scale(Training):
    name, tool, title = "scale", "scale_page", "links and ranks"
    about = "Trains with 2, 4 and 8 ranks over five emulated links: from which rate down does each method pay?"


PAGE = Scale()
