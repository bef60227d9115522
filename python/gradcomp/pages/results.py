"""Makes all pages that have records by one command: ./run results."""
import contextlib
import sys

from gradcomp.guarded import guarded
from gradcomp.places import ROOT
from gradcomp.results.records import read_kept

from . import (
    alone,
    claims,
    exchange,
    frame,
    gate,
    kernels,
    kokkos_kernels,
    letters,
    links,
    local_steps,
    mercury,
    peers,
    quantisers,
    reliability,
    scale,
    sparsifiers,
    steps,
    traffic,
    training,
)

# Approximate hours from scratch on two cores; if all records of a page are kept, their times count. Short pages run first.
HOURS = {kernels.PAGE: 0.1, kokkos_kernels.PAGE: 0.1, steps.PAGE: 0.1, quantisers.PAGE: 0.1, gate.PAGE: 0.2, peers.PAGE: 0.2,
         links.PAGE: 0.3, sparsifiers.PAGE: 0.3, reliability.PAGE: 0.5, traffic.PAGE: 0.8, scale.PAGE: 0.8, exchange.PAGE: 1.0,
         mercury.PAGE: 1.0, letters.PAGE: 1.0, local_steps.PAGE: 1.0, training.PAGE: 4.0,
         claims.PAGE: 0.0}  # last: it shows the records of others
PAGES = {page.name: page for page in HOURS}


def seconds(record):
    """What it takes to make a record. The rates of a task are tuned in several calls, and the record is of the last one."""
    return max(record.seconds, sum(row["tuning_s"] for row in record.rows if "trials" in row and "tuning_s" in row))


def cost(page):
    """(hours from scratch, number of records that exist, number of all records, a line of words)"""
    options = frame.parse(page, ["--page"])
    if not page.measures:
        return 0.0, f"{page.name:15} {0:6.2f} h from scratch; it shows the records of other pages"
    kept = [read_kept(path) for name in page.names(options) if (path := options.records / f"{name}.json").is_file()]
    spent, wanted = sum(map(seconds, kept)) / 3600, len(page.names(options))
    hours = spent if len(kept) == wanted else HOURS[page]
    return hours, f"{page.name:15} {hours:6.2f} h from scratch; {len(kept)} of {wanted} records are there, made in {spent:.2f} h"


def main(arguments=None):
    """Returns the exit status: 0; 1 if a page could not be made (the others are made all the same); 2 for a wrong call; 130 if
    interrupted."""
    parser = frame.Parser(prog="results", description="Makes the pages of docs/results: measures everything, including the "
                          "tuning, or uses only the records. A measurement that has a record of this commit is not repeated, so "
                          "after an interrupt the same call continues.")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"(default: all) {', '.join(PAGES)}")
    parser.add_argument("--page", action="store_true", help="only write the pages again from their records, without running a "
                        "program")
    parser.add_argument("--cost", action="store_true", help="only print how many hours it takes")
    options = parser.parse_args(arguments)
    if not (ROOT / "docs/results").is_dir():
        parser.error("start it in a checkout of gradcomp, whose pages it makes")
    unknown = [name for name in options.pages if name not in PAGES]
    if unknown:
        parser.error(f"no page '{unknown[0]}': there are {', '.join(PAGES)}")
    chosen = [page for name, page in PAGES.items() if name in (options.pages or PAGES)]
    return guarded("results", lambda: _work(chosen, options))


def _work(chosen, options):
    costs = [cost(page) for page in chosen]
    if not options.page:
        print("\n".join([*(line for _, line in costs), f"{'all':15} {sum(hours for hours, _ in costs):6.2f} h on two cores"]),
              flush=True)
    with contextlib.nullcontext() if options.page or options.cost else alone.alone():
        return _make([] if options.cost else chosen, ["--page"] if options.page else [])


def _make(pages, arguments):
    failed = []
    for page in pages:
        status = frame.main(page, arguments)
        if status == 130:
            return status
        if status:
            failed.append(page.name)
    if failed:
        print(f"results: error: not made: {', '.join(failed)}; see above", file=sys.stderr)
    return 1 if failed else 0
