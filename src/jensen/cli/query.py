"""`jensen query`: distributions, given what is known and what was done."""

from __future__ import annotations

import math
from typing import Any

from jensen.cli import inputs, options, outputs
from jensen.cli.command import QUESTION, Command, Given, Option


def run(given: Given) -> None:
    """Ask for P(TARGET | given, do), or for the most probable states of all that is not known."""
    given.check()
    best_first = ("--most-probable", given.most_probable)
    given.refuse_together(best_first, ("TARGET", given.targets))
    given.refuse_together(best_first, ("--interval", given.interval is not None))
    for other in ("targets", "most_probable", "interval"):
        given.refuse_together(
            ("--log-z", given.log_z), (given.table[other].flag, getattr(given, other))
        )
    net = inputs.as_net(inputs.read_model(given.file), given.file)
    known: dict[str, Any] = dict(inputs.read_evidence(given, net))
    how = given.chosen("inference", "i_bound")
    if given.log_z:
        _print_log_z(net.log_z(**known, **how), known, given)
    elif given.most_probable:
        how.pop("i_bound", None)
        best = net.most_probable(**known, k=1 if given.k is None else given.k, **how)
        _print(best, {**known, "most_probable": [_assignment(one) for one in best]}, given)
    elif given.targets:
        found: Any = net.query(given.targets, **known, interval=given.interval, **how)
        _print([found], {"targets": given.targets, **known, **found.plain()}, given)
    else:
        each = _each(net, known, given.interval, how)
        marginals = [{"targets": list(one.names), **one.plain()} for one in each]
        _print(each, {**known, "marginals": marginals}, given)


def _each(
    net: Any, known: dict[str, Any], interval: float | None, how: dict[str, Any]
) -> list[Any]:
    """Every variable that is not known, on its own."""
    found = net.marginals(**known, **how)
    if interval is None:
        return list(found.values())
    return [net.query(name, **known, interval=interval, **how) for name in found]


def _print(answers: list[Any], in_json: dict[str, Any], given: Given) -> None:
    if given.as_json:
        outputs.print_json(in_json)
    else:
        print("\n\n".join(map(repr, answers)))


def _print_log_z(found: Any, known: dict[str, Any], given: Given) -> None:
    bounds = {
        name: x for name, x in (("lower", found.lower), ("upper", found.upper)) if math.isfinite(x)
    }
    in_json = {**known, "log_z": float(found), **bounds, "inference": found.label.plain()}
    _print([found], in_json, given)


def _assignment(found: Any) -> dict[str, Any]:
    if found.log_product is not None:
        numbers = {"log_product": found.log_product, "bound": found.bound}
        what = {"is_certain": found.is_certain, "inference": found.label.plain()}
        return {"state": dict(found.states), **numbers, **what}
    numbers = {"log_probability": found.log_probability, "log_conditional": found.log_conditional}
    return {"state": dict(found.states), **numbers}


COMMAND = Command(
    name="query",
    run=run,
    group="Ask",
    options=(
        options.NETWORK_FILE,
        Option(
            "targets",
            "The variables to ask for, several of them jointly (default: all, one by one).",
            many=True,
            metavar="TARGET",
        ),
        options.GIVEN,
        options.DO,
        Option(
            "interval",
            "Show how sure the probabilities of states are, after vbem and gibbs: 0.9 for 90 %.",
            QUESTION,
            kind=float,
            metavar="LEVEL",
        ),
        Option(
            "most_probable",
            "Ask for the most probable states of everything that is not known instead.",
            QUESTION,
            kind=bool,
            default=False,
        ),
        Option(
            "k",
            "How many of the most probable (default 1).",
            QUESTION,
            kind=int,
            flags=("-k",),
            metavar="N",
            needs="most_probable",
        ),
        Option(
            "log_z",
            "Ask for log Z instead: the log of the sum of the product of all tables (of a Bayesian "
            "network the log probability of what is given).",
            QUESTION,
            kind=bool,
            default=False,
        ),
        options.INFERENCE,
        Option(
            "i_bound",
            "The variables of the largest message of --inference mini-bucket (default: what memory "
            "allows).",
            QUESTION,
            kind=int,
            metavar="N",
            belongs={"inference": ("mini-bucket",)},
        ),
        options.JSON,
    ),
    examples=(
        "jensen query net.json cancer --given xray=abnormal --do smoker=yes",
        "jensen query net.uai --log-z --inference mini-bucket",
    ),
    notes="With --json the answer is {targets, given, do, probabilities: [{state: {variable: "
    "state}, probability}]}, with lower and upper if --interval is given; without TARGET {given, "
    "do, marginals: [{targets, probabilities}]}; with --most-probable {given, do, most_probable: "
    "[{state, log_probability, log_conditional}]}, where the first is jointly with what is given "
    "and the second given it; with --log-z {given, do, log_z, lower, upper, inference}. With "
    "--inference each answer has inference: {method, kind, converged, sweeps, notes}.",
)
