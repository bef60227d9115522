"""tools/report --gradients: comparison of the fits with SciPy and known samples, the plots, and what is refused."""
import json
import pathlib
import subprocess
import xml.etree.ElementTree

import numpy as np
import pytest
from scipy import stats

from gradcomp.report import fits, gradients

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(3)


def report(*arguments):
    """Runs the tool as a user does."""
    return subprocess.run([str(ROOT / "tools" / "report"), *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def test_fits_find_the_parameters_of_samples():
    n = 200000
    by_name = {fit.name: fit for fit in fits.fit_all(np.sort(RANDOM.gamma(0.5, 2e-5, n)))}
    assert by_name["double gamma"].frozen.args[0] == pytest.approx(0.5, rel=0.02)
    assert by_name["double gamma"].frozen.kwds["scale"] == pytest.approx(2e-5, rel=0.02)
    assert by_name["double gamma"].distance < 1.7 / np.sqrt(n) < by_name["double exponential"].distance
    by_name = {fit.name: fit for fit in fits.fit_all(np.sort(stats.genpareto.rvs(0.1, scale=3, size=n, random_state=5)))}
    assert by_name["double generalised Pareto"].frozen.args[0] == pytest.approx(0.1, abs=0.02)
    assert by_name["double generalised Pareto"].distance < 5 / np.sqrt(n) < by_name["double exponential"].distance
    by_name = {fit.name: fit for fit in fits.fit_all(np.sort(RANDOM.exponential(7, n)))}
    assert by_name["double exponential"].frozen.kwds["scale"] == pytest.approx(7, rel=0.01)
    assert all(fit.distance < 1.7 / np.sqrt(n) for fit in by_name.values()), "all three contain the exponential"


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1, 3, 40])
def test_gamma_is_the_maximum_likelihood_of_scipy(alpha):
    a = RANDOM.gamma(alpha, 0.3, 5000) + 1e-300
    _, _, frozen = fits.gamma(a)
    expected, _, scale = stats.gamma.fit(a, floc=0)
    assert frozen.args[0] == pytest.approx(expected, rel=1e-4) and frozen.kwds["scale"] == pytest.approx(scale, rel=1e-4)


def test_distance_is_that_of_scipy():
    a = np.sort(RANDOM.exponential(1, 500))
    assert fits.distance(a, stats.expon.cdf) == pytest.approx(stats.kstest(a, stats.expon.cdf).statistic, rel=1e-12)


def test_fits_say_their_parameters():
    """Of 1 and 3: mean 2, variance 1, so xi = (1 - 4) / 2 and beta = 2 (1 + 4) / 2; alpha is that of SciPy."""
    alpha, beta, xi = "\N{GREEK SMALL LETTER ALPHA}", "\N{GREEK SMALL LETTER BETA}", "\N{GREEK SMALL LETTER XI}"
    found = {fit.name: fit.parameters for fit in fits.fit_all(np.array([1.0, 3.0]))}
    shape, _, scale = stats.gamma.fit([1.0, 3.0], floc=0)
    assert found == {"double exponential": f"{beta} = 2", "double gamma": f"{alpha} = {shape:.3g}, {beta} = {scale:.3g}",
                     "double generalised Pareto": f"{xi} = -1.5, {beta} = 5"}


def test_a_figure_has_density_and_tail_of_each_gradient():
    pytest.importorskip("matplotlib")
    from gradcomp.report import plots
    made = [gradients.summary(kind, 4000, np.sort(np.abs(RANDOM.laplace(size=3000)))) for kind in gradients.KINDS]
    figure, words = plots.distributions("T", made, gradients.KINDS)
    (density, second), (tail, other) = figure.axes[:2], figure.axes[2:]
    assert words == ("T: density and tail of the magnitudes (gradient and with error feedback) beside three fitted distributions")
    assert (density.get_ylabel(), tail.get_ylabel()) == ("probability density", "share that is larger (1 - CDF)")
    assert (density.get_title(), second.get_title()) == ("gradient", "with error feedback")
    assert tail.get_xlabel() == other.get_xlabel() == "|g|, nonzeros"
    assert tail.lines[0].get_label() == "measured" and len(tail.lines) == len(density.lines) == 4
    for axis in figure.axes:
        assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    assert tail.get_ylim() == pytest.approx((0.3 / 3000, 1.5))


def test_no_spread_no_fit():
    found = fits.fit_all(np.full(50, 0.25))
    assert found[0].frozen is not None and found[1].frozen is None and found[2].frozen is None


@pytest.fixture(name="files")
def fixture_files(tmp_path):
    """Files of two steps, one of them with error feedback, and one constant gradient."""
    folder = tmp_path / "g"
    folder.mkdir()
    laplace = RANDOM.laplace(size=20000).astype(np.float32)
    laplace[:5000] = 0
    np.save(folder / "m_step1_gradient.npy", laplace)
    np.save(folder / "m_step1_accumulated.npy", laplace.reshape(100, 200) + 0.5)
    np.save(folder / "m_step2_gradient.npy", RANDOM.standard_normal(3000))
    np.save(folder / "constant.npy", np.full(7, -2, np.float16))
    return sorted(folder.iterdir())


def test_report_draws_a_figure_per_step(files, tmp_path):
    done = report(tmp_path, "--gradients", *files, "--markdown", tmp_path / "r.md")
    assert done.returncode == 0, done.stderr
    names = {"m_step1_distribution.svg", "m_step2_distribution.svg", "constant_distribution.svg"}
    assert {path.name for path in (tmp_path / "plots").iterdir()} == names
    width = {}
    for name in names:
        root = xml.etree.ElementTree.parse(tmp_path / "plots" / name).getroot()
        assert root.tag.endswith("svg")
        width[name] = float(root.get("width").removesuffix("pt"))
    assert width["m_step1_distribution.svg"] > 1.5 * width["m_step2_distribution.svg"], "feedback stands beside it"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 3 and "What shaped these runs" not in page
    markdown = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert all(f"plots/{name}" in markdown for name in names)
    lines = [line for line in markdown.splitlines() if (line.startswith("| ") and "_step" in line) or "constant" in line]
    assert any("m_step1, with error feedback" in line for line in lines)
    first = next(line for line in lines if "m_step1, gradient" in line)
    assert "25.0 %" in first and "20,000" in first


def test_figures_are_reproducible(files, tmp_path):
    images = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        assert report(tmp_path / name, "--gradients", *files).returncode == 0
        images.append((tmp_path / name / "plots" / "m_step1_distribution.svg").read_bytes())
    assert images[0] == images[1]


@pytest.mark.parametrize("content, reason", [
    (b"no array", "not a .npy file"), (np.arange(3), "int64"), (np.zeros(4), "no value other than zero"),
    (np.array([1.0, np.inf]), "not finite"), (np.zeros(0), "no value other than zero"), (np.array([{}]), "not a .npy file"),
])
def test_bad_files_are_one_line(content, reason, tmp_path):
    path = tmp_path / "x.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    done = report(tmp_path, "--gradients", path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert reason in done.stderr and "x.npy" in done.stderr
    assert not (tmp_path / "report.html").exists()


def test_missing_and_repeated_files_are_one_line(files, tmp_path):
    for paths in ([tmp_path / "none.npy"], [files[0], files[0]]):
        done = report(tmp_path, "--gradients", *paths)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


def test_groups_put_the_gradient_first(files):
    found = gradients.groups(reversed(files))
    assert [member.kind for member in found["m_step1"]] == ["gradient", "accumulated"]
    assert found["m_step1"][0].zeros == 0.25


def test_a_record_tells_what_is_drawn(files):
    found = gradients.groups(files)
    rows = json.loads(json.dumps([member.row(title) for title, members in found.items() for member in members]))
    again = gradients.of_rows(rows)
    assert gradients.table(again) == gradients.table(found) and len(json.dumps(rows)) < 40000
    for one, other in zip(found["m_step1"], again["m_step1"], strict=True):
        assert (one.kind, one.density, one.tail, one.span, one.zeros) == (other.kind, other.density, other.tail, other.span,
                                                                          other.zeros)
        assert [fit.frozen.sf(one.span[1] / 2) for fit in one.fits] == [fit.frozen.sf(one.span[1] / 2) for fit in other.fits]
    assert again["constant"][0].fits[1].frozen is None
