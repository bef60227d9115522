"""One gradient of a training, and what compressors make of it: the errors that stand beside speeds which have no training behind
them."""
from gradcomp.output import text

from . import quantisers_tables
from .page import Job

NOTE = "*NMSE*: squared distance of what is decoded of one gradient (of the last step, nothing fed back), over its squared length."
ALONE = ("It is that of the compressor alone, whatever the reducer and the strategy of a method: what a reducer rounds on the way, "
         "as `two_phase` does, is not in it.")


def _layout(given, folder):
    """What --layout of gradcomp-evaluate reads: the model, or what --dump-gradients writes if its tensors depend on the data."""
    return folder / "layout.txt" if given["--data"].startswith("hmm") else given["--model"]


def jobs(train, folder, methods, names):
    """Two jobs with these names: the first takes the gradient of the last step of the training `train` with fp32, the second measures
    the error of each of `methods`. `train`: gradcomp-train and its options, each with a value."""
    given = dict(zip(train[1::2], train[2::2], strict=True))
    last, model = given["--steps"] - 1, given["--model"]
    gradient, layout = folder / f"fp32_step{last}_gradient.npy", _layout(given, folder)
    dumped = (gradient,) if layout == model else (gradient, layout)
    return [Job(names[0], (*train, "--methods", "fp32", "--no-controls", "--dump-gradients", folder, "--at", last),
                f"{model}: one gradient", dumped),
            Job(names[1], ("gradcomp-evaluate", "--input", gradient, "--layout", layout, "--timings", 1, "--methods",
                           ",".join(methods)), f"{model}: its error")]


def compressor(label):
    """A method without its reducer and its strategy."""
    return ":".join(part for part in label.split(":") if not part.startswith(("reducer", "strategy")))


def nmse(record):
    """{method: its NMSE} of the second job; empty without a record."""
    return {row["label"]: quantisers_tables.nmse(row) for row in record.rows} if record else {}


def cell(known, label):
    """The error of a method's compressor, of those of nmse(); a dash if it is not known."""
    return text.number(known.get(compressor(label)))
