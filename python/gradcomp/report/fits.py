"""The distributions that SIDCo fits to magnitudes of a gradient (Abdelmoniem et al., MLSys 2021, section 2), and their
distances from it."""
import dataclasses

import numpy as np
from scipy import special, stats


@dataclasses.dataclass
class Fit:
    """One fitted distribution of |g|; `frozen` is None if the magnitudes allow no fit (no spread)."""

    name: str
    parameters: str
    frozen: object
    distance: float  # Kolmogorov-Smirnov: the largest difference of the distribution functions


def distance(ordered, cdf):
    """Kolmogorov-Smirnov distance of ascending samples to a distribution function."""
    expected = cdf(ordered)
    ranks = np.arange(len(ordered) + 1) / len(ordered)
    return float(max(np.max(ranks[1:] - expected), np.max(expected - ranks[:-1])))


def exponential(a):
    """Double exponential: maximum likelihood."""
    beta = a.mean()
    return "double exponential", f"\N{GREEK SMALL LETTER BETA} = {beta:.3g}", stats.expon(scale=beta)


def gamma(a):
    """Double gamma: maximum likelihood by Newton's method in 1 / alpha (Minka 2002); None without spread."""
    s = np.log(a.mean()) - np.log(a).mean()
    if not s > 1e-9:
        return "double gamma", "", None
    alpha = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(8):
        slope = alpha**2 * (1 / alpha - special.polygamma(1, alpha))
        alpha = 1 / (1 / alpha + (np.log(alpha) - special.digamma(alpha) - s) / slope)
    beta = a.mean() / alpha
    return ("double gamma", f"\N{GREEK SMALL LETTER ALPHA} = {alpha:.3g}, \N{GREEK SMALL LETTER BETA} = {beta:.3g}",
            stats.gamma(alpha, scale=beta))


def pareto(a):
    """Double generalised Pareto: by moments, so xi < 0.5 always; None without spread."""
    mean, variance = a.mean(), a.var()
    if not variance > 1e-12 * mean**2:
        return "double generalised Pareto", "", None
    xi = 0.5 * (1 - mean**2 / variance)
    beta = 0.5 * mean * (1 + mean**2 / variance)
    return ("double generalised Pareto", f"\N{GREEK SMALL LETTER XI} = {xi:.3g}, \N{GREEK SMALL LETTER BETA} = {beta:.3g}",
            stats.genpareto(xi, scale=beta))


def fit_all(ordered):
    """The three fits to ascending positive magnitudes."""
    # Magnitudes are scaled first: squares of tiny ones would underflow, those of huge ones overflow.
    found = []
    for fit in (exponential, gamma, pareto):
        name, parameters, frozen = fit(ordered)
        found.append(Fit(name, parameters, frozen, distance(ordered, frozen.cdf) if frozen else float("nan")))
    return found
