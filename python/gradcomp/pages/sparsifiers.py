"""docs/results/sparsifiers.md: what every sparsifier keeps of its target density, sends and costs, on synthetic gradients, on
gradients of ResNet-20 at three stages of its training, and in a loop with error feedback over a whole training."""
import dataclasses
import json
import os

from gradcomp.output import text
from gradcomp.output.files import write_all
from gradcomp.report import build, gradients
from gradcomp.results.records import ROOT

from . import sparsifiers_tables
from .commands import command
from .page import Job, Page, Text, write_rows

# Options, besides the target density, of methods that have several lines in the tables. All other sparsifiers run with their
# defaults. Those with a variant of the authors run as this variant, too. Options that a method does not know are left out.
VARIANTS = {
    "sidco": ({"sid": "exponential"}, {"sid": "gamma"}, {"sid": "pareto"}, {"sid": "exponential", "integrator": "off"}),
    "top_k": ({}, {"index": "packed"}, {"index": "delta"}, {"index": "rice"}, {"index": "elias_fano"},
              {"index": "auto", "values": "f16"}),
}
# Options of the authors' variants. By its own policy RedSync uses an exact top-k ("trimmed") up to 4 MiB, and no estimate: so
# `search=binary` is run, too.
AUTHORS = {"redsync": ({}, {"search": "binary"})}
# What a reader of the lines of SIDCo must know of src/gradcomp/compressors/sidco.cpp.
ABOUT_SIDCO = ("`sidco` has additions that are not in the paper. In its integrator, a running mean of ln(kept / k) of the steps "
               "before corrects the k that is asked of the fit; `integrator=off` leaves it out, which shows only in loops. In its first "
               "step the fit starts with as many [`stages`](../methods.md#sidco) as the gradients of a ResNet-20 needed, so that the "
               "first steps do not send too little; `variant=paper` starts with one stage, and has none of our additions.")
DATA = ("laplace", "gamma", "pareto", "gauss")
MODEL = "resnet20"
FED_BACK = "top_k"  # methods whose accumulated gradient is drawn next to the gradient


@dataclasses.dataclass
class Size:
    """The size of the measurement."""

    targets: tuple
    elements: int
    repeats: int
    steps: int
    stages: tuple
    batch: int
    dataset: str


FULL = Size(("0.1", "0.01", "0.001"), 1 << 22, 3, 400, (10, 100, 390), 64, "shapetex10")
QUICK = Size(("0.1", "0.01"), 20000, 2, 6, (0, 2, 5), 8, "shapetex10:train=64:test=16")


def variants(method):
    """Names of the lines: the method with the options that distinguish its variants."""
    choices = {parameter["name"]: parameter["choices"] for parameter in method["parameters"]}
    published = [{"variant": "paper"} | authors for authors in AUTHORS.get(method["name"], ({},))]
    known = [options | authors for authors in ({}, *published)
             for options in VARIANTS.get(method["name"], ({},))
             if all(value in choices.get(key, ()) for key, value in (options | authors).items())
             and not ("integrator" in options and authors)]  # these methods have no target
    return [":".join([method["name"], *(f"{key}={value}" for key, value in options.items())]) for options in known or [{}]]


def sparse_methods():
    """The lines of the tables, (with a target density, without one), from the list of the program."""
    with_target, without = [], []
    for method in json.loads(command("gradcomp-methods", "--list=json")):
        if method["family"] != "sparsifier":
            continue
        has_ratio = any(parameter["name"] == "ratio" for parameter in method["parameters"])
        (with_target if has_ratio else without).extend(variants(method))
    return with_target, without


def joined(records, name):
    """The record of the methods `name` on synthetic gradients and in the loop, after the rows of their record on real gradients."""
    return dataclasses.replace(records[name], rows=[*records[f"{name}_real"].rows, *records[name].rows])


class Sparsifiers(Page):
    name, tool, images = "sparsifiers", "sparsifiers", True
    about = "Measures every sparsifier: density, bits, time and error."
    programs = ("gradcomp-methods", "gradcomp-train", "gradcomp-evaluate")
    sources = ("python/gradcomp/report/gradients.py", "python/gradcomp/report/fits.py")

    def names(self, options):
        cases = [f"target_{target}" for target in (QUICK if options.quick else FULL).targets]
        return ["gradients", "distributions", *(name for case in (*cases, "no_target") for name in (f"{case}_real", case)),
                *(f"{case}_no_feedback" for case in cases)]

    def commands(self, options):
        return {}

    def jobs(self, options):
        size = QUICK if options.quick else FULL
        folder = options.folder / "gradients"
        with_target, without = sparse_methods()
        training = ("--steps", size.steps, "--batch", size.batch)
        fed_back = f"{FED_BACK}:ratio={size.targets[-1]}:label={FED_BACK}"
        files = tuple(folder / f"fp32_step{step}_gradient.npy" for step in size.stages)
        drawn = tuple(folder / f"{FED_BACK}_step{step}_{kind}.npy" for step in size.stages for kind in gradients.KINDS)
        loop = ("--train", MODEL, "--dataset", size.dataset, *training)
        real = ("--input", *files, "--layout", MODEL)  # synthetic gradients cannot have another size beside them
        synthetic = ("--data", ",".join(DATA), "--size", size.elements, "--repeats", size.repeats)

        def draw(output, built):
            rows = [member.row(title) for title, found in gradients.groups(ROOT / path for path in drawn).items()
                    for member in found]
            write_rows(output, built, rows)
        jobs = [Job("gradients", ("gradcomp-train", "--model", MODEL, "--data", size.dataset, *training, "--methods",
                                  f"fp32,{fed_back}", "--no-controls", "--dump-gradients", folder, "--at",
                                  ",".join(map(str, size.stages))), "gradients of a training", files + drawn),
                Job("distributions", ("tools/report", options.folder, "--gradients", *drawn), "their distributions", make=draw)]
        cases = [(f"target_{target}", [f"{name}:ratio={target}" for name in with_target]) for target in size.targets]
        for name, specs in [*cases, ("no_target", without)]:
            jobs += [Job(f"{name}_real", ("gradcomp-evaluate", *real, "--methods", ",".join(specs)),
                         name.replace("_", " ") + ", real gradients"),
                     Job(name, ("gradcomp-evaluate", *synthetic, *loop, "--methods", ",".join(specs)), name.replace("_", " "))]
        for name, specs in cases:
            specs = ",".join(f"{spec}:feedback=none" for spec in specs)
            jobs.append(Job(f"{name}_no_feedback", ("gradcomp-evaluate", *loop, "--methods", specs),
                            name.replace("_", " ") + ", without feedback"))
        return jobs

    def text(self, records, options):
        size = QUICK if options.quick else FULL
        timed = ("laplace", MODEL)

        def lines_of(record, added):
            return record, {spec: spec.replace(added, "") for spec in dict.fromkeys(row["method"] for row in record.rows)}
        fixed = {target: lines_of(joined(records, f"target_{target}"), f":ratio={target}") for target in size.targets}
        opened = {target: lines_of(records[f"target_{target}_no_feedback"], f":ratio={target}:feedback=none")
                  for target in size.targets}
        with_target, (free, named) = list(fixed[size.targets[0]][1].values()), lines_of(joined(records, "no_target"), "")
        choosing = [name for name in with_target if "index=" not in name]  # codings do not change what is kept
        out = Text(self, "sparsifiers", records, *sparsifiers_tables.answer(fixed, choosing, "0.01", DATA[0]))
        out.lines += [f"Gradients: {', '.join(DATA)} (double exponential; double gamma, shape 0.5; double generalised Pareto, "
                      f"xi 0.3; normal), {size.elements:,} elements, {size.repeats} draws; `fp32_step..._gradient`: {MODEL} on "
                      f"{size.dataset}, at three stages of its training, in its tensors; `{MODEL}, loop`: every step of such a "
                      "training, with each method's own error feedback. Elsewhere nothing is fed back, and what adapts from step to "
                      "step begins anew. Every answer was checked: decoded + memory = what the compressor saw.", "",
                      "`dgc` sends one-dimensional tensors whole, as its authors do (`vectors=whole`), and its target counts the "
                      "vectors of the model: in the loop it keeps " + ", ".join(
                          f"{text.percent(sparsifiers_tables.kept_in_loop(record, f'dgc:ratio={target}'))} at target {target}"
                          for target, (record, _) in fixed.items()) + ". If a method compresses no part of a gradient, its cell "
                      f"says *{sparsifiers_tables.WHOLE}*.", ""]
        out.lines += [ABOUT_SIDCO, ""]
        for target, (record, specs) in fixed.items():
            out.add(f"Achieved / target density, target {target}", "Mean \N{PLUS-MINUS SIGN} standard deviation (root mean square "
                    "of the ratio - 1) over draws or steps; 1 is the target.", sparsifiers_tables.density(record, specs, choosing))
        for target, (record, specs) in opened.items():
            out.add(f"The same loop without feedback, target {target}", "What adapts from step to step does.",
                    sparsifiers_tables.density(record, specs, choosing))
        out.add("Methods without a target density", "Density that each kept with its default options.",
                sparsifiers_tables.without_target(free, named, named.values()))
        out.add("Time, throughput only", "To compress + to decompress, as multiples of one read of the gradient "
                f"({size.elements:,} elements without, {MODEL} with feedback) by the same program, in turn with the method. "
                "NMSE: square of the relative error; these speeds say nothing of the quality of a training.",
                sparsifiers_tables.times(fixed, with_target, timed))
        out.add("Bits", "Payload bits per entry kept / bits per entry that the indices alone need at least (log2 C(n, k) / k); "
                "values take 32 more where they are floats. A method that draws its entries from a common seed sends no "
                "indices.", sparsifiers_tables.bits(fixed, with_target, timed))
        for target, (record, specs) in fixed.items():
            out.add(f"Relative error, target {target}", "L2 distance of what was decoded from what the compressor saw.",
                    sparsifiers_tables.quality(record, specs, choosing))
        found = gradients.of_rows(records["distributions"].rows)
        section = build.gradient_section(found)
        for plot in section.plots:
            plot.name = "gradients_" + plot.name.removeprefix(f"{FED_BACK}_")
        write_all({options.images / plot.name: plot.image for plot in section.plots})
        out.add("Distributions", section.tables[0][0] + ".", section.tables[0][1])
        images = os.path.relpath(options.images.resolve(), options.output.parent.resolve())
        for plot in section.plots:
            out.lines += [f"![{plot.alternative}]({images}/{plot.name})", ""]
        out.lines += [section.plots[0].caption, ""]
        return out.whole()


PAGE = Sparsifiers()
