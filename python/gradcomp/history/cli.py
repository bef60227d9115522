"""The command line of gradcomp-history."""
import sys

from gradcomp.gate import decide
from gradcomp.guarded import guarded
from gradcomp.output import files

from . import add, arguments, bisect, check, measure, nights, page, regressions


def _report(options):
    """Judges the nights without a verdict, prints the verdict of the newest one and returns the exit status."""
    judged = check.judged(options.history)
    newest = judged[-1]
    verdict = newest.verdict
    against = f" against {verdict[check.GOOD]}" if verdict[check.GOOD] else ""
    print(f"night {newest.name}{against}: {verdict['conclusion']}")
    for line in verdict["notes"]:
        print(line)
    for case in verdict["cases"]:
        if case["verdict"] == decide.INCONCLUSIVE:
            print(f"{case['name']}: inconclusive: {case['reason']}")
    for one in regressions.named(options.history, judged, options.repository):
        print(page.sentence(options.history, one))
    return check.status(newest)


def _write_page(histories, options, path):
    files.write_all({path: page.page(histories, options.repository, options.nights)})
    print(path)


def _add(options):
    good = check.last_good(options.history)
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
    return bisect.bisect(options, check.judged(options.history))


VERBS = {"add": _add, "check": _report, "accept": _accept, "page": _page, "bisect": _bisect, "night": _night}


def main():
    """Returns the exit status; bad input is one line on stderr."""
    def work():
        options = arguments.parse(sys.argv[1:])
        return VERBS[options.verb](options)
    return guarded("gradcomp-history", work)
