"""The command line of gradcomp-history."""
import pathlib
import signal
import sys

from gradcomp_compare import decide, files
from gradcomp_report.load import ReportError

from . import add, arguments, bisect, check, measure, nights, page, regressions


def _report(options):
    """Judges what has no verdict, prints the newest night's, returns the exit status."""
    judged = nights.require(options.history)
    check.check(judged)
    newest = judged[-1]
    verdict = newest.verdict
    against = f" against {verdict[check.GOOD]}" if verdict[check.GOOD] else ""
    print(f"night {newest.name}{against}: {verdict['conclusion']}")
    for line in verdict["notes"]:
        print(line)
    for case in verdict["cases"]:
        if case["verdict"] == decide.INCONCLUSIVE:
            print(f"{case['name']}: inconclusive: {case['reason']}")
    found = regressions.find(judged)
    regressions.name_commits(found, options.repository, regressions.bisections(pathlib.Path(options.history)))
    for one in found:
        print(page.sentence(options.history, one))
    return check.status(newest)


def _write_page(histories, options, path):
    files.write_all({path: page.page(histories, options.repository, options.nights)})
    print(path)


def _add(options):
    existing = nights.read(options.history)
    check.check(existing)
    good = check.last_good(existing)
    night, new = add.add(options.history, options.results, options.allow_dirty, good and good.commit)
    print(f"night {night.name}: {'added' if new else 'is there already, with these records'}")
    return 0


def _accept(options):
    night = nights.find(nights.require(options.history), options.commit)
    files.write_all({night.folder / nights.ACCEPTED: nights.text({"schema_version": 1, "reason": options.reason.strip()})})
    print(f"night {night.name}: accepted: {options.reason.strip()}")
    return 0


def _page(options):
    files.require_writable([options.output])
    _write_page(options.history, options, options.output)
    return 0


def _night(options):
    if options.page:
        files.require_writable([options.page])
    measure.night(options)
    status = _report(options)
    if options.page:
        _write_page([options.history], options, options.page)
    return status


def _bisect(options):
    judged = nights.require(options.history)
    check.check(judged)
    return bisect.bisect(options, judged)


VERBS = {"add": _add, "check": _report, "accept": _accept, "page": _page, "bisect": _bisect, "night": _night}


def main():
    """Returns the exit status; bad input is one line on stderr."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        options = arguments.parse(sys.argv[1:])
        return VERBS[options.verb](options)
    except ReportError as error:
        print(f"gradcomp-history: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"gradcomp-history: error: cannot use '{error.filename}': {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("gradcomp-history: interrupted", file=sys.stderr)
        return 130
