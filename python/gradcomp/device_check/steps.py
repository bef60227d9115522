"""Runs the steps one after the other and times each. If one fails, the others still run."""
import dataclasses
import time
import traceback
import typing

from gradcomp.errors import ToolError

from .children import StepFailed

PASSED, FAILED, LEFT_OUT = "passed", "failed", "left out"


@dataclasses.dataclass(frozen=True)
class Step:
    """`work(limit)` returns the results of the step as JSON, or throws StepFailed. It ends within `limit` seconds (None: no
    limit). `reserve` seconds are kept for it while earlier steps run. A step that is not `limited` takes the time that it needs,
    which does not count. A step that throws Partly keeps the results that it has."""

    name: str
    title: str
    reserve: float
    work: typing.Callable
    needs_programs: bool = True
    limited: bool = True


class Partly(StepFailed):
    """A step that failed, with the results that it has."""

    def __init__(self, line, found):
        super().__init__(line)
        self.found = found


def limits(steps, number, left, skip):
    """The seconds of the `left` ones that steps[number] may take: all except those that are reserved for later steps."""
    return None if left is None else left - sum(step.reserve for step in steps[number + 1:] if step.name not in skip)


def _one(step, limit):
    """(status, reason, results)."""
    try:
        if limit is not None and limit <= 0:
            raise StepFailed("no time was left for it (--minutes)")
        return PASSED, None, step.work(limit)
    except Partly as failure:
        return FAILED, str(failure), failure.found
    except (StepFailed, ToolError) as failure:
        return FAILED, str(failure), None
    except (KeyError, TypeError, ValueError, OSError) as error:  # the file of a program has another form than expected
        at = traceback.extract_tb(error.__traceback__)[-1]
        return FAILED, f"{type(error).__name__} {error} ({at.name})", None


def run_all(steps, skip, seconds, say):
    """[{name, title, status, reason, seconds}] and {name: results}. `say` is called with each line of progress."""
    started, lines, found, built, uncounted = time.monotonic(), [], {}, True, 0.0
    for number, step in enumerate(steps):
        began = time.monotonic()
        clock = int(began - started)
        if step.name in skip:
            status, reason, result = LEFT_OUT, "--skip", None
        elif step.needs_programs and not built:
            status, reason, result = FAILED, "the programs were not built", None
        else:
            say(f"[{number + 1}/{len(steps)}] {step.title}  ({clock // 60}:{clock % 60:02d})")
            left = None if seconds is None or not step.limited else seconds - (began - started - uncounted)
            status, reason, result = _one(step, limits(steps, number, left, skip))
        if status == FAILED:
            say(f"      failed: {reason}")
        if not step.limited:
            uncounted += time.monotonic() - began
        built = built and not (step.name == "build" and status == FAILED)
        lines.append({"name": step.name, "title": step.title, "status": status, "reason": reason,
                      "seconds": round(time.monotonic() - began, 1)})
        if result is not None:
            found[step.name] = result
    return lines, found
