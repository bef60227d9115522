"""The step that compares training steps of our models with the same networks in PyTorch: same weights, same batches, same losses."""
import pathlib
import shutil

from gradcomp.json_files import read_json
from gradcomp.places import PACKAGES

from . import children, measuring
from .steps import Partly

PROGRAM = pathlib.Path(__file__).with_name("torch_models.py")
COMPARED = "resnet20|resnet18|vgg11|lstm_2x200|lstm_2x650|transformer_2x128"


def models(setting, limit):
    """{"ours": record, "torch": {...}}. Throws Partly if losses differ or a program fails."""
    folder, ours, theirs = setting.parts / "models", setting.parts / "models_ours.json", setting.parts / "models_torch.json"
    chosen = "resnet20/" if setting.quick else f"({COMPARED})/"
    samples = 3 if setting.quick else 20
    half, found = None if limit is None else limit / 2, {}
    folder.mkdir(exist_ok=True)
    try:
        children.run(setting.run("exec", "--", setting.program("gradcomp-bench"), "--samples", samples, "--filter",
                                 f"^train_step/{chosen}", "--dump-models", folder, "--output", ours),
                     setting.parts / "models_ours.log", half)
        found["ours"] = measuring.read(ours)
        children.run(setting.run("exec", "--", "env", f"PYTHONPATH={PACKAGES}", setting.python, "-B", PROGRAM, theirs,
                                 "gpu" if setting.on_device else "cpu", samples, folder), setting.parts / "models_torch.log", half)
        found["torch"] = read_json(theirs)
    except children.StepFailed as failure:
        raise Partly(str(failure), found) from failure
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # hundreds of megabytes
    if found["torch"].get("wrong"):
        raise Partly("; ".join(found["torch"]["wrong"]), found)
    return found


def table(found):
    """(variants of torch, [(case, our ms, {variant: ms}, largest relative difference of losses or None)])."""
    rows = found.get("torch", {}).get("rows", ())
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    lines = []
    for own in found.get("ours", {}).get("benchmarks", ()):
        if own["operation"] != "train_step":
            continue
        name = own["name"].split("/")[1]
        others = {row["variant"]: row["time_ms"] for row in rows if row["model"] == name}
        errors = [row["loss_error"] for row in rows if row["model"] == name and row["variant"].endswith("fp32")]
        lines.append((own["name"].removeprefix("train_step/"), own["time_ms"]["median"], others, errors[0] if errors else None))
    return variants, lines
