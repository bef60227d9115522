"""Runs the steps one after the other: each is timed, a failure of one does not end the others."""
import dataclasses
import time
import traceback
import typing

from gradcomp.errors import ReportError

from .children import StepFailed

PASSED, FAILED, LEFT_OUT = "passed", "failed", "left out"


@dataclasses.dataclass(frozen=True)
class Step:
    """`work(limit)` returns what the step found, as JSON, or throws StepFailed; it ends within `limit` seconds (None:
    whenever), of which `reserve` are kept for it while earlier steps run. `found` keeps what it has when it fails."""

    name: str
    title: str
    reserve: int
    work: typing.Callable
    needs_programs: bool = True


class Partly(StepFailed):
    """A step that failed, with what it found all the same."""

    def __init__(self, line, found):
        super().__init__(line)
        self.found = found


def limits(steps, number, left):
    """Seconds that steps[number] may take of the `left` ones: all but what is kept for those behind it."""
    return None if left is None else left - sum(step.reserve for step in steps[number + 1:])


def _one(step, limit):
    """(status, reason, what it found)."""
    try:
        if limit is not None and limit <= 0:
            raise StepFailed("no time was left for it (--minutes)")
        return PASSED, None, step.work(limit)
    except Partly as failure:
        return FAILED, str(failure), failure.found
    except (StepFailed, ReportError) as failure:
        return FAILED, str(failure), None
    except (KeyError, TypeError, ValueError, OSError) as error:  # a file of a program that is not as we expect it
        at = traceback.extract_tb(error.__traceback__)[-1]
        return FAILED, f"{type(error).__name__} {error} ({at.name})", None


def run_all(steps, skip, seconds, say):
    """[{name, title, status, reason, seconds}] and {name: what it found}. `say`: for each line of progress."""
    started, lines, found, built = time.monotonic(), [], {}, True
    for number, step in enumerate(steps):
        began = time.monotonic()
        clock = int(began - started)
        if step.name in skip:
            status, reason, result = LEFT_OUT, "--skip", None
        elif step.needs_programs and not built:
            status, reason, result = FAILED, "the programs were not built", None
        else:
            say(f"[{number + 1}/{len(steps)}] {step.title}  ({clock // 60}:{clock % 60:02d})")
            left = None if seconds is None else seconds - (began - started)
            status, reason, result = _one(step, limits(steps, number, left))
        if status == FAILED:
            say(f"      failed: {reason}")
        built = built and not (step.name == "build" and status == FAILED)
        lines.append({"name": step.name, "title": step.title, "status": status, "reason": reason,
                      "seconds": round(time.monotonic() - began, 1)})
        if result is not None:
            found[step.name] = result
    return lines, found
