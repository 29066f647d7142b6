"""What a caller chose about the loop, checked before any work begins."""

from dataclasses import dataclass
from typing import Any

from jensen.exceptions import JensenError
from jensen.free_energy import ALGORITHMS, Algorithm
from jensen.support.checks import check_whole, is_real
from jensen.support.memory import STREAM, check_many
from jensen.support.text import some


@dataclass(frozen=True)
class LoopChoices:
    """Which algorithm, from where, how long; the estimators say what each of these means."""

    prior: Any = None
    method: str | None = None
    start: Any = None
    n_init: int = 1
    max_iter: int = 1000
    tol: float = 1e-8
    n_samples: int = 1000
    burn_in: int = 1000
    thin: int = 1
    n_chains: int = 4
    random_state: Any = None
    progress: bool = False

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that the method names; None: EM without a prior, VBEM with one."""
        default = "em" if self.prior is None else "vbem"
        name = default if self.method is None else self.method
        if not isinstance(name, str) or name not in ALGORITHMS:
            raise JensenError(f"there is no method {name!r}: choose one of {some(ALGORITHMS)}")
        return ALGORITHMS[name]

    def check(self) -> None:
        """Refuse what cannot be, and what would be ignored."""
        algorithm = self.algorithm
        for name in ("n_init", "n_samples", "thin", "n_chains"):
            check_whole(name, getattr(self, name), at_least=1)
        for name in ("max_iter", "burn_in"):
            check_whole(name, getattr(self, name), at_least=0)
        self._check_room()
        if not is_real(self.tol) or not self.tol >= 0:
            raise JensenError(f"tol must be a number, 0 or more, not {self.tol!r}")
        if algorithm.ascends:
            self._refuse_changed("n_samples", "burn_in", "thin", "n_chains", of="gibbs")
            if self.start is not None and self.n_init > 1:
                raise JensenError(
                    f"n_init={self.n_init} starts would all begin at start=: leave out one"
                )
        else:
            self._refuse_changed("n_init", "max_iter", "tol", of="em")

    def _check_room(self) -> None:
        """Refuse more starts, chains or samples than there is room for."""
        check_many(self.n_init, STREAM, "starts (n_init)", "choose fewer")
        check_many(self.n_chains, STREAM, "chains (n_chains)", "choose fewer")
        n_samples = int(self.n_samples) * int(self.n_chains)
        check_many(n_samples, 16.0, "samples (n_samples, of all chains)", "keep fewer")

    def _refuse_changed(self, *names: str, of: str) -> None:
        for name in names:
            if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                raise JensenError(
                    f"{name} belongs to methods such as {of!r}, and would be ignored by "
                    f"{self.algorithm.name!r}"
                )
