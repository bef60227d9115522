"""Builds a report: sections with tables and plots, independent of the output format."""
import dataclasses

from gradcomp.output import text
from gradcomp.results.reading import of_program

from . import answers, canvas, curves, frames, gradients, plots, tables, verdicts


@dataclasses.dataclass
class Plot:
    """A drawn figure: its file name, bytes (PNG or SVG, by the name), alternative text and caption."""

    name: str
    image: bytes
    alternative: str
    caption: str

    @property
    def mime(self):
        return "image/svg+xml" if self.name.endswith(".svg") else "image/png"


@dataclasses.dataclass
class Section:
    """A part of the report. `tables` holds (caption, (header, rows)); `notes` are sentences."""

    title: str
    badge: str = ""
    notes: list = dataclasses.field(default_factory=list)
    tables: list = dataclasses.field(default_factory=list)
    plots: list = dataclasses.field(default_factory=list)


def _plot(name, drawn, caption, kind="png"):
    figure, alternative = drawn
    return Plot(f"{name}.{kind}", canvas.saved(figure, kind), alternative, caption)


def sections(records, drawn=True):
    """All sections of the report on `records`; without plots unless `drawn`."""
    trained = [(record, frame) for record in of_program(records, "gradcomp-train")
               if (frame := frames.training(record)) is not None]
    reduced = [(record, frames.allreduce(record)) for record in of_program(records, "gradcomp-allreduce")]
    labels = [one.label for record, _ in trained for one in verdicts.trained(record)] + [
        label for _, frame in reduced for label in frame["label"]]
    style = drawn and canvas.styles(labels)
    out = [_training(record, frame, style) for record, frame in trained]
    if reduced:
        out.append(_reduction(reduced, style))
    out += [_evaluation(record) for record in of_program(records, "gradcomp-evaluate")]
    out += [_bench(record) for record in of_program(records, "gradcomp-bench")]
    return out


def gradient_section(found):
    """The section on the distributions of gradients.groups()."""
    section = Section("Distributions of gradients")
    section.tables = [("Kolmogorov-Smirnov distance of the nonzeros' magnitudes to each fit (0: the same, 1: apart). Star: "
                       "the closest", gradients.table(found))]
    for title, members in found.items():
        section.plots.append(_plot(f"{title}_distribution", plots.distributions(title, members, gradients.KINDS),
                                   "Upper: density. Lower: tail, whose height is the density that a threshold there "
                                   "keeps. Dots: measured. Lines: fits, with their Kolmogorov-Smirnov distance.", "svg"))
    return section


def _evaluation(record):
    section = Section(f"Compressors on gradients{record.mark}")
    section.tables = [("Each method on each gradient. Achieved / target density over tensors and steps; bits of the payload "
                       "per entry kept, beside what the indices alone need; time to compress over one read of the gradient",
                       tables.evaluations(record.rows))]
    return section


def _training(record, frame, style):
    methods = verdicts.trained(record)
    what = answers.about(record)
    section = Section(f"Training{' ' + what if what else ''}: {record.link}",
                      "emulated link" if record.emulated else "")
    section.notes = answers.findings(record) + tables.broken(frame)
    section.tables = [
        ("Methods. Speed-ups compare total times of steps and are shown at matched quality only", tables.methods(frame)),
        ("Break-down of a step in ms: medians of the stages, which with the rest add up to the median step. Transfer and waiting (for "
         "other ranks) are the part of the exchange that overlap did not hide. The rest is negative where stages run at the same time",
         tables.breakdown(frame))]
    for caption, table in (("Over several emulated links. Steps and speed-ups with several seeds are means with 95 % intervals",
                            verdicts.links(methods)),
                           ("Over the seeds: means with 95 % intervals", verdicts.over_seeds(methods))):
        if table:
            section.tables.insert(0, (caption, table))
    if not style:
        return section
    stem = record.path.stem
    seeds = curves.seeds(methods)
    section.plots = [
        _plot(f"{stem}_curves", curves.curves(methods, style, record.link),
              "Left: against training time. Right: against bytes sent. Better quality further left is better. At a triangle, a curve "
              f"leaves the axes. Shown: {seeds}."),
        _plot(f"{stem}_stages", plots.stages(methods, record.link),
              "Where the time of a step goes. The mark is the median of whole steps, where stages and rest end."),
        _plot(f"{stem}_quality", plots.quality(methods, style, record.link),
              "Quality against traffic, a point per method and seed. Hollow: the quality of fp32 was missed, or is open.")]
    return section


def _reduction(reduced, style):
    emulated = any(record.emulated for record, _ in reduced)
    section = Section("The reduction alone", "includes an emulated link" if emulated else "")
    for record, frame in reduced:
        section.notes += answers.crossovers(record.link, frames.crossovers(frame))
        section.tables.append((f"Throughput only: median time of compress, exchange and decompress, {record.link}. Star: fastest of the "
                               "size. NMSE: squared distance of the result from the mean gradient, over its squared length",
                               tables.reductions(frame)))
    if not style:
        return section
    panels = [(record.link, frame) for record, frame in reduced]
    section.plots.append(_plot("allreduce", plots.allreduce(panels, style),
                               "Throughput only: these times say nothing of quality. Rings mark crossovers."))
    return section


def _bench(record):
    section = Section(f"Kernels against the memory limit{record.mark}")
    frame = frames.bench(record)
    if len(frame):
        section.tables.append(("Throughput only: time over the time to read the gradient once (1\N{MULTIPLICATION SIGN} is the limit). "
                               "NMSE: squared distance of a first step's decoded gradient, over the gradient's squared length",
                               tables.kernels(frame)))
    return section


def context(records):
    """What influenced the runs, and last the variables of their environment: tables as in Section, with a column per file."""
    names = [record.path.name for record in records]
    keys = [("program", lambda r: r.program), ("date", lambda r: r.context["date"]), ("link", lambda r: r.link),
            ("ranks x threads", lambda r: f"{r.gradcomp['ranks']} x {r.gradcomp['threads']}"),
            ("processor", lambda r: f"{r.gradcomp['cpu_model']}, {r.context['num_cpus']} CPUs"),
            ("device", lambda r: f"{r.gradcomp['device']} ({r.gradcomp['kokkos_backend']})"),
            ("version", lambda r: f"{r.gradcomp['version']}, {r.gradcomp['git_hash']}"
                                  f"{' + changes' if r.gradcomp['git_dirty'] else ''}"),
            ("traced by", lambda r: r.gradcomp.get("tracer", text.DASH)),
            ("compiler", lambda r: f"{r.gradcomp['compiler']}, {r.gradcomp['build_type']}"
                                   f"{', native' if r.gradcomp['native_arch'] else ''}"),
            ("Kokkos", lambda r: r.gradcomp["kokkos_version"]), ("MPI", lambda r: r.gradcomp["mpi"]),
            ("BLAS", lambda r: r.gradcomp.get("blas", text.DASH)),
            ("OpenBLAS core", lambda r: r.gradcomp["openblas_core"] or text.DASH),
            ("huge pages", lambda r: r.gradcomp.get("huge_pages") or text.DASH),
            ("seeds", lambda r: ", ".join(map(str, r.gradcomp["seeds"])) or text.DASH),
            ("options", lambda r: ", ".join(f"{key}={value}" for key, value in r.gradcomp["options"].items())),
            ("failures", lambda r: "; ".join(r.gradcomp.get("failures", [])) or text.DASH)]
    found = [("Context of each result file", (["", *names], [[name, *(get(record) for record in records)] for name, get in keys]))]
    variables = sorted({name for record in records for name in record.gradcomp["environment"]})
    if variables:
        found.append(("Environment: variables of MPI, OpenMP and other libraries", (["", *names], [
            [name, *(record.gradcomp["environment"].get(name, text.DASH) for record in records)] for name in variables])))
    return found
