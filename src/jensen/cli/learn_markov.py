"""`jensen learn --model markov`: the potentials of an undirected graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.cli.describe_model import save_model
from jensen.exceptions import JensenError
from jensen.support.text import show_number

if TYPE_CHECKING:
    from jensen.estimators.markov_network import MarkovNetwork

CHAIN_OPTIONS = ("n_samples", "burn_in", "thin")


class DescribedMarkov(NamedTuple):
    """A Markov network, and how many rows it was learned from."""

    net: MarkovNetwork
    weight: float

    def save(self, output: str | None) -> None:
        """Write it; - prints it."""
        save_model(self.net, output)

    def picture(self) -> str:
        """The graph as SVG."""
        return self.net.to_svg()

    def summary(self, output: str | None) -> dict[str, Any]:
        """All of it, for programs."""
        from jensen.estimators.markov_saving import meaning

        net = self.net
        return {
            "model": "markov",
            "nodes": list(net.graph_.nodes),
            "edges": [list(edge) for edge in net.graph_.edges],
            "rows": self.weight,
            "free_parameters": net.parameters_count,
            "method": net.method,
            "free_energy": net.free_energy_,
            "meaning": meaning(net),
            "is_bound": net.is_bound_,
            "n_sweeps": net.n_sweeps_,
            "converged": net.converged_,
            "starts": net.starts_.tolist(),
            "effects": net.effects().plain(),
            "output": output,
        }

    def print(self, output: str | None) -> None:
        """The same for people."""
        noun = "row" if self.weight == 1 else "rows"
        print(f"learned from {show_number(self.weight)} {noun}")
        print(f"{self.net.summary()}\n\n{self.net.effects()}\n")
        if output is None:
            print("Nothing was written: -o net.json keeps the network.")
        else:
            print(f"written to {output}")

    @property
    def was_interrupted(self) -> bool:
        """Whether an interrupt ended the run."""
        return not self.net.converged_ and self.net.n_sweeps_ < self.net.max_iter


def learn_markov(given: Given) -> DescribedMarkov:
    """Learn the potentials of --graph, or of all pairs of columns."""
    from jensen.cli.structure import read_hidden
    from jensen.estimators.markov_network import MarkovNetwork

    for name in CHAIN_OPTIONS:
        if name in given.typed:
            raise JensenError(
                f"{given.table[name].flag} belongs to chains, which Markov networks lack"
            )
    chosen = inputs.loop_choices(given) | given.chosen("interactions", "n_steps", "inference")
    chosen |= {"prior": _read_penalty(given.prior), "hidden": read_hidden(given.hidden)}
    if given.start is not None:
        chosen["start"] = inputs.as_net(inputs.read_model(given.start), given.start)
    net = MarkovNetwork(_graph(given), **chosen)
    table = inputs.read_table(given, given.states)
    table = inputs.choose_columns(table, given.column, given.without)
    if given.complete_rows:
        table = table.complete_rows()
    net.fit(table, checkpoint=given.checkpoint)
    return DescribedMarkov(net, table.total_weight)


class DescribedMachine(NamedTuple):
    """A restricted Boltzmann machine, and how many rows it was learned from."""

    model: Any
    weight: float

    def save(self, output: str | None) -> None:
        """Write it; - prints it."""
        save_model(self.model, output)

    def summary(self, output: str | None) -> dict[str, Any]:
        """All of it, for programs."""
        model = self.model
        return {
            "model": "rbm",
            "rows": self.weight,
            "hidden_units": len(model.intercept_hidden_),
            "method": model.method_,
            "free_parameters": model.n_parameters,
            "free_energy": model.free_energy_,
            "converged": model.converged_,
            "log_z": model.log_z_._asdict(),
            "output": output,
        }

    def print(self, output: str | None) -> None:
        """The same for people."""
        noun = "row" if self.weight == 1 else "rows"
        print(f"learned from {show_number(self.weight)} {noun}\n{self.model.summary()}\n")
        if output is None:
            print("Nothing was written: -o rbm.json keeps the model.")
        else:
            print(f"written to {output}")

    @property
    def was_interrupted(self) -> bool:
        """Whether an interrupt ended the run; chains are never left half done."""
        model = self.model
        ended = model.converged_ or model.n_sweeps_ >= model.max_iter
        return model.method_ == "ml" and not ended


def learn_rbm(given: Given) -> DescribedMachine:
    """Learn a restricted Boltzmann machine of columns of 0 and 1."""
    from jensen.cli.table_rows import require_numbers
    from jensen.estimators.rbm import RBM

    for name in (*CHAIN_OPTIONS, "n_chains", "start"):
        if name in given.typed:
            raise JensenError(f"{given.table[name].flag} is no option of --model rbm")
    chosen = inputs.loop_choices(given) | given.chosen("n_steps")
    if given.hidden_units is not None:
        chosen["n_components"] = given.hidden_units
    penalty = _read_penalty(given.prior)
    if penalty is not None and set(penalty) != {"ridge"}:
        raise JensenError(f"--prior {given.prior}: the prior of an rbm is a penalty, as in ridge=1")
    table = inputs.choose_columns(inputs.read_table(given, []), given.column, given.without)
    if given.complete_rows:
        table = table.complete_rows()
    require_numbers(table, "an rbm", ", or name columns of 0 and 1 with --column")
    model = RBM(ridge=(penalty or {}).get("ridge", 0.0), **chosen)
    return DescribedMachine(model.fit(table, checkpoint=given.checkpoint), table.total_weight)


def _graph(given: Given) -> Any:
    """The graph of --graph: a text, or that of a file."""
    if given.graph is None or not inputs.names_net(given.graph):
        return given.graph
    found = inputs.as_net(inputs.read_model(given.graph), given.graph)
    return found.require_any().graph


def _read_penalty(text: str | None) -> dict[str, float] | None:
    """The penalty that --prior spells, as in ridge=1."""
    if text is None:
        return None
    kind, _, strength = text.partition("=")
    try:
        return {kind.strip(): float(strength)}
    except ValueError:
        raise JensenError(
            f"--prior {text}: the prior of a Markov network is a penalty, as in ridge=1 or l1=10"
        ) from None
