"""May two arms be compared at all? If not, ToolError names the key that differs."""
from gradcomp.errors import ToolError

GRADCOMP = ("cpu_model", "device", "threads", "ranks", "kokkos_backend", "kokkos_version", "compiler", "build_type",
            "native_arch", "openblas_core", "huge_pages", "tracer", "seeds")
OPTIONS = ("samples", "seed", "quick", "cache", "stream", "senders", "interleave")
# Keys that older result files may lack.
RECENT = ("options.cache", "options.stream", "options.senders", "options.interleave", "caches", "huge_pages")
ENVIRONMENT = ("OMP_", "KOKKOS_", "OPENBLAS_")
SOURCE = ("version", "git_hash", "git_dirty")  # equal in all processes of an arm, but not in both arms


def _caches(context):
    """The sizes of the caches as words; None if the file does not have them."""
    found = sorted({(one["level"], one["type"], one["size"]) for one in context.get("caches") or ()})
    return ", ".join(f"L{level} {kind} {size}" for level, kind, size in found) or None


def keys(process):
    """{key: value} of everything besides the code that influences times. The clock is left out: where the kernel does not tell the
    nominal one, `mhz_per_cpu` is that of the moment."""
    known, context = process.record.gradcomp, process.record.context
    found = {"num_cpus": context["num_cpus"], "caches": _caches(context)} | {key: known.get(key) for key in GRADCOMP}
    found |= {f"options.{key}": known["options"].get(key) for key in OPTIONS}
    return found | {f"environment.{key}": value for key, value in known["environment"].items()
                    if key.startswith(ENVIRONMENT)}


def differences(first, second):
    """[(key, value, value)] in the order of keys()."""
    return [(key, first.get(key), second.get(key)) for key in first | second if first.get(key) != second.get(key)]


def _words(found):
    return "; ".join(f"{key}: {one!r} and {other!r}" for key, one, other in found)


def _renew(found):
    """How to renew result files that lack a key; empty if none does."""
    lacking = [key for key, one, other in found if key in RECENT and None in (one, other)]
    return (f". Older result files lack {', '.join(lacking)}: measure them again (a baseline with --refresh), or accept the new night "
            "of a history") if lacking else ""


def _case_keys(process, name):
    case = process.cases[name]
    return {"method_canonical": case.method, "elements": case.elements,
            "read_limit_ms measured": case.read_ms is not None}


def check_arm(arm, minimum):
    """Throws ToolError unless all processes of an arm ran the same program in the same way and there are enough of them."""
    if len(arm.processes) < minimum:
        raise ToolError(f"too few processes: {arm.name} has {len(arm.processes)} result files, at least {minimum} are "
                        "needed (one file is one process)")
    first, seen = arm.processes[0], {}
    source = {key: first.record.gradcomp[key] for key in SOURCE}
    for process in arm.processes:
        found = differences(keys(first), keys(process))
        found += differences(source, {key: process.record.gradcomp[key] for key in SOURCE})
        if found:
            raise ToolError(f"the processes of {arm.name} differ: {_words(found)} ('{first.path}', '{process.path}')")
        lost = set(first.cases) ^ set(process.cases)
        if lost:
            raise ToolError(f"the processes of {arm.name} differ: case {min(lost)} is not in all ('{process.path}')")
        for name in first.cases:
            found = differences(_case_keys(first, name), _case_keys(process, name))
            if found:
                raise ToolError(f"the processes of {arm.name} differ in {name}: {_words(found)} ('{process.path}')")
        same = seen.setdefault((process.date, str(process.record.rows)), process)
        if same is not process:
            raise ToolError(f"'{same.path}' and '{process.path}' are the same process twice")


def check(baseline, new, allowed=()):
    """The allowed keys that differ, as words. Throws ToolError if other keys differ, and if NEW does not have all cases."""
    found = differences(keys(baseline.processes[0]), keys(new.processes[0]))
    refused = [item for item in found if item[0] not in allowed]
    if refused:
        raise ToolError(f"not comparable: {_words(refused)}{_renew(refused)}")
    for name in baseline.cases:
        if name not in new.cases:
            raise ToolError(f"not comparable: case {name} is missing in {new.name}")
        refused = differences(_case_keys(baseline.processes[0], name), _case_keys(new.processes[0], name))
        if refused:
            raise ToolError(f"not comparable: {name}: {_words(refused)}")
    return [_words([item]) for item in found]


def dates_differ(baseline, new):
    """Whether the arms were measured apart: on different days, or one completely before the other."""
    first, second = ([process.date for process in arm.processes] for arm in (baseline, new))
    if {date[:10] for date in first} != {date[:10] for date in second}:
        return True
    middle_first, middle_second = sorted(first)[len(first) // 2], sorted(second)[len(second) // 2]
    return not (min(second) <= middle_first <= max(second) and min(first) <= middle_second <= max(first))
