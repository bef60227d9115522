"""The command line of device-check."""
import datetime
import json
import sys
import time

from gradcomp.guarded import guarded
from gradcomp.json_files import read_json
from gradcomp.output import files

from . import alternatives, arguments, machine, measuring, models, page, steps, testing

RESULT, PAGE = "device.json", "device.md"


def all_steps(setting):
    """The steps, in the order in which they run. The seconds that are reserved for a step are a guess for a GPU and the default
    time limit; of a shorter limit each step keeps the same share."""
    def bind(work):
        return lambda limit: work(setting, limit)

    def limited(name, title, reserve, work):
        return steps.Step(name, title, reserve * share, bind(work))
    share = min(1, (setting.minutes or arguments.MINUTES_ON_A_DEVICE) / arguments.MINUTES_ON_A_DEVICE)
    return [
        steps.Step("build", f"Build the programs (preset {setting.preset})", 0, bind(testing.build), False, False),
        limited("golden", "Payloads against the kept bytes of the host build", 60, measuring.golden),
        steps.Step("tests", "Build and run all tests", 0, bind(testing.tests), False, setting.own_build),
        limited("bench", "Kernels and methods", 480, measuring.bench),
        limited("alternatives", "Alternatives: torch, CUB", 200, alternatives.alternatives),
        limited("models", "Training steps beside PyTorch", 400, models.models),
        limited("training", "Training of both models", 240, measuring.training),
    ]


def _programs(parts):
    """What the programs report of their build and machine; None if no program ran."""
    records = [record for part in ("bench", "training") for record in parts.get(part, {}).values()]
    records += [parts["alternatives"]["ours"]] if "ours" in parts.get("alternatives", {}) else []
    if not records:
        return None
    known = records[0]["context"]["gradcomp"]
    names = ("git_hash", "git_dirty", "compiler", "build_type", "native_arch", "kokkos_version", "kokkos_backend", "device",
             "threads", "mpi", "cpu_model", "blas", "openblas_core", "tracer", "environment")
    return {name: known[name] for name in names if name in known}


def document(setting, lines, parts, seconds):
    """The content of the result file."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    context = {"date": now, "seconds": round(seconds, 1), "preset": setting.preset, "quick": setting.quick,
               "ranks": setting.ranks, "minutes": setting.minutes, **machine.commit(setting.root),
               "driver": machine.driver(setting.preset), "programs": _programs(parts)}
    return {"schema_version": 1, "program": "device-check", "context": context, "steps": lines, "parts": parts}


def check(setting):
    """Runs everything and returns the exit status."""
    setting.parts.mkdir(parents=True, exist_ok=True)
    for name in (RESULT, PAGE):  # an older file must not look like one of this run
        (setting.output / name).unlink(missing_ok=True)
    began = time.monotonic()
    seconds = None if setting.minutes is None else 60 * setting.minutes
    lines, parts = steps.run_all(all_steps(setting), setting.skip, seconds, lambda line: print(line, file=sys.stderr))
    made = json.dumps(document(setting, lines, parts, time.monotonic() - began), indent=1) + "\n"
    files.write_all({setting.output / RESULT: made, setting.output / PAGE: page.page(json.loads(made))})
    failed = [line for line in lines if line["status"] == steps.FAILED]
    for line in failed:
        print(f"device-check: error: {line['name']}: {line['reason']}", file=sys.stderr)
    print(setting.output / PAGE)
    return 1 if failed else 0


def main():
    """The exit status."""
    def work():
        presets = read_json(arguments.ROOT / "CMakePresets.json")["testPresets"]
        return check(arguments.parse(sys.argv[1:], [one["name"] for one in presets if not one.get("hidden")]))
    return guarded("device-check", work)
