"""Small mixtures of every kind, for our code and for the slow twins.

The twins see rows and means relative to `shift`; our emissions see them where they are.
"""

from typing import NamedTuple

import numpy as np
from naive.mixtures import GAUSSIAN, Part

from jensen.data.number_rows import NumberRows
from jensen.families import normal_gamma, normal_wishart, spherical, tied
from jensen.families.gamma import Gamma
from jensen.free_energy import state_at
from jensen.models.emissions.diagonal import Diagonal
from jensen.models.emissions.discrete import Discrete
from jensen.models.emissions.gaussian import Gaussian
from jensen.models.emissions.poisson import Poisson
from jensen.models.emissions.product import ProductEmission
from jensen.models.mixture import Mixed, Mixture

KINDS = ["full", "tied", "diagonal", "spherical", "labels", "binary", "counts", "product"]
FAMILIES = {
    "full": normal_wishart,
    "tied": tied,
    "diagonal": normal_gamma,
    "spherical": spherical,
}


class Layout(NamedTuple):
    """Columns of one kind."""

    kind: str  # as the twins know it
    columns: list
    n_labels: int = 0
    is_binary: bool = False


def layouts(kind, D):
    if kind == "labels":
        return [Layout("labels", list(range(D)), 3)]
    if kind == "binary":
        return [Layout("labels", list(range(D)), 2, True)]
    if kind == "product":
        return [Layout("counts", [1]), Layout("diagonal", [3, 0]), Layout("labels", [2], 3)]
    return [Layout(kind, list(range(D)))]


def n_columns(kind):
    return {"full": 3, "tied": 3, "product": 4}.get(kind, 2)


def random_values(kind, n, rng, *, missing=True):
    """Rows relative to the shift; with all 2^D patterns of what is missing, from none to all."""
    D = n_columns(kind)
    values = rng.normal(0.0, 2.0, (n, D))
    for layout in layouts(kind, D):
        if layout.kind == "labels":
            values[:, layout.columns] = rng.integers(0, layout.n_labels, (n, len(layout.columns)))
        elif layout.kind == "counts":
            values[:, layout.columns] = rng.poisson(3.0, (n, len(layout.columns)))
    if missing:
        for i in range(n):
            values[i, [d for d in range(D) if (i >> d) & 1]] = np.nan
    return values


def random_words(layout, K, rng, size=1.0):
    """A prior or posterior of one part, with a mode; `size` is how much it is worth."""
    D = len(layout.columns)
    if layout.kind == "labels":
        return rng.uniform(1.2, 3.0, (K, D, layout.n_labels)) * size
    if layout.kind == "counts":
        return rng.uniform(2.0, 4.0, (K, D)) * size, rng.uniform(0.5, 1.5, (K, D)) * size
    m = rng.normal(0.0, 1.0, (K, D))
    of_strength = (K, D) if layout.kind == "diagonal" else (K,)
    shapes = {"full": (K,), "tied": (), "diagonal": (K, D), "spherical": (K,)}
    beta = rng.uniform(0.5, 2.0, of_strength) * size
    nu = np.asarray(rng.uniform(D + 1.0, D + 3.0, shapes[layout.kind]) * size)
    if layout.kind in ("full", "tied"):
        return m, beta, nu, random_matrices(rng, shapes[layout.kind], D) / size
    return m, beta, nu, rng.uniform(0.2, 0.6, nu.shape) / size


def random_matrices(rng, shape, D):
    root = rng.normal(0.0, 0.3, (*shape, D, D))
    return root @ np.swapaxes(root, -1, -2) + 0.2 * np.eye(D)


def random_point(layout, K, rng):
    D = len(layout.columns)
    if layout.kind == "labels":
        return rng.dirichlet(np.full(layout.n_labels, 2.0), (K, D))
    if layout.kind == "counts":
        return rng.uniform(0.5, 6.0, (K, D))
    shape = {"full": (K,), "tied": ()}.get(layout.kind)
    if shape is not None:
        return rng.normal(0.0, 1.0, (K, D)), random_matrices(rng, shape, D)
    places = (K, D) if layout.kind == "diagonal" else (K,)
    return rng.normal(0.0, 1.0, (K, D)), rng.uniform(0.3, 1.5, places)


def eta_of(layout, words, shift=None):
    """η of a prior or posterior, which our families keep relative to the shift too."""
    if layout.kind == "labels":
        return words - 1.0
    if layout.kind == "counts":
        return Gamma(words[0] - 1.0, words[1])
    return FAMILIES[layout.kind].from_standard(*words)


def emission_of(layout, K, prior, shift):
    D = len(layout.columns)
    eta = None if prior is None else eta_of(layout, prior)
    if layout.kind == "labels":
        return Discrete(K, D, layout.n_labels, eta, is_binary=layout.is_binary)
    if layout.kind == "counts":
        return Poisson(K, D, eta)
    if layout.kind in ("full", "tied"):
        return Gaussian(K, shift[layout.columns], eta, is_tied=layout.kind == "tied")
    return Diagonal(K, shift[layout.columns], eta, is_spherical=layout.kind == "spherical")


def named_point(layout, theta, shift):
    """A point as people write it."""
    if layout.kind == "labels":
        if layout.is_binary:
            return {"emission": theta[:, :, 1]}
        return {"emission": theta[:, 0] if theta.shape[1] == 1 else theta}
    if layout.kind == "counts":
        return {"emission": theta}
    means, precision = theta
    is_matrix = layout.kind in ("full", "tied")
    covariances = np.linalg.inv(precision) if is_matrix else 1.0 / precision
    return {"means": means + shift[layout.columns], "covariances": covariances}


class Case(NamedTuple):
    """A mixture with its prior, for both sides."""

    kind: str
    model: Mixture
    prior: tuple  # (concentrations, parts), None where flat
    values: np.ndarray  # relative to the shift
    weight: np.ndarray
    shift: np.ndarray
    units: object

    @property
    def K(self):
        return self.model.n_states

    @property
    def layouts(self):
        return layouts(self.kind, self.values.shape[1])

    def _joined(self, parts):
        return tuple(parts) if self.kind == "product" else parts[0]

    def posterior(self, rng, size=3.0):
        """A random q(θ): of the twins, and η."""
        alpha = rng.uniform(0.5, 9.0, self.K)
        words = [random_words(layout, self.K, rng, size) for layout in self.layouts]
        pairs = list(zip(self.layouts, words, strict=True))
        parts = [Part(layout.kind, layout.columns, w) for layout, w in pairs]
        etas = [eta_of(layout, w) for layout, w in pairs]
        return (alpha, parts), Mixed(alpha - 1.0, self._joined(etas))

    def point(self, rng):
        """A random θ: of the twins, and an η with this mode."""
        shares = rng.dirichlet(np.full(self.K, 3.0))
        thetas = [random_point(layout, self.K, rng) for layout in self.layouts]
        pairs = list(zip(self.layouts, thetas, strict=True))
        named = [named_point(layout, theta, self.shift) for layout, theta in pairs]
        if self.kind == "product":
            read = self.model.emission.read(
                dict(zip(self.model.emission.names, named, strict=True))
            )
        else:
            read = self.model.emission.read(named[0])
        parts = [Part(layout.kind, layout.columns, theta) for layout, theta in pairs]
        return (shares, parts), Mixed(shares, read)

    def stats(self, gathered):
        """Statistics of the twins, shaped as ours."""
        like = self.model.emission.blank
        likes = like if self.kind == "product" else (like,)
        parts = [
            found[0] if isinstance(one, np.ndarray) else type(one)(*found)
            for one, found in zip(likes, gathered, strict=True)
        ]
        return self._joined(parts)

    def start(self, algorithm, seed=0, rng=None):
        """The state at a random η, which has a mode."""
        eta = self.posterior(np.random.default_rng(seed))[1]
        eta = eta._replace(weights=np.abs(eta.weights) + 0.1)
        return state_at(self.model, self.units, algorithm, eta, rng)


def make_case(kind, K, *, seed=0, n=None, missing=True, weights=False, flat=False, values=None):
    rng = np.random.default_rng([seed, KINDS.index(kind), K])
    D = n_columns(kind) if values is None else values.shape[1]
    if values is None:
        values = random_values(kind, 2**D if n is None else n, rng, missing=missing)
    weight = rng.uniform(0.2, 3.0, len(values)) if weights else np.ones(len(values))
    shift = np.where(is_real(kind, D), rng.normal(0.0, 10.0, D), 0.0)
    alpha = None if flat else rng.uniform(1.2, 2.5, K)
    words = [None if flat else random_words(x, K, rng) for x in layouts(kind, D)]
    return assemble(kind, K, alpha, words, values, weight, shift)


def assemble(kind, K, alpha, words, values, weight, shift):
    """A case with this prior; alpha and words are None where it is flat."""
    every = layouts(kind, values.shape[1])
    pairs = list(zip(every, words, strict=True))
    emissions = [emission_of(layout, K, w, shift) for layout, w in pairs]
    emission = emissions[0]
    if kind == "product":
        columns = tuple(np.array(layout.columns) for layout in every)
        emission = ProductEmission(tuple(emissions), columns, tuple("abc"))
    model = Mixture(emission, None if alpha is None else alpha - 1.0, K)
    prior = (alpha, [Part(layout.kind, layout.columns, w) for layout, w in pairs])
    units = model.encode(NumberRows.of(values + shift, weight))
    return Case(kind, model, prior, values, weight, shift, units)


def is_real(kind, D):
    """Which columns are real numbers, and can be moved."""
    result = np.zeros(D, bool)
    for layout in layouts(kind, D):
        result[layout.columns] = layout.kind in GAUSSIAN
    return result
