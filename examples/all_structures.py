"""All structures with two hidden causes, ranked by the evidence, as rows grow in number.

After Beal and Ghahramani (2003): each of two hidden binary variables is a cause of some observed
labels. Rows are drawn from one of these bipartite graphs, and the evidence of every graph is found
in several ways; drawn is the rank of the graph that made the rows.

    python examples/all_structures.py [PICTURE] [--whole] [--methods bic vb ...]

Writes all_structures.svg, or the named file. By default three observed variables of three states,
36 structures, BIC and the bound of variational Bayes; with --whole four of five states, 136
structures, more sizes, the bound of Cheeseman and Stutz, and annealing, which takes an hour or so.
"""

import argparse
import time
from itertools import product

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

HIDDEN = {"H1": 2, "H2": 2}
OWN = {"ais": {"n_chains": 8, "n_temperatures": 60}}


def structures(names: list[str]) -> list[str]:
    """All bipartite graphs; of two that differ in the names of the hidden variables one."""
    found = {}
    for above in product([(), ("H1",), ("H2",), ("H1", "H2")], repeat=len(names)):
        edges = [f"{h} -> {x}" for x, own in zip(names, above, strict=True) for h in own]
        twin = tuple(tuple(sorted({"H1": "H2", "H2": "H1"}[h] for h in own)) for own in above)
        if twin not in found:
            found[above] = "; ".join([*edges, *HIDDEN, *names])
    return list(found.values())


def drawn(graph: str, n_states: int, rng: np.random.Generator) -> jn.BayesianNetwork:
    """A network with tables that differ from row to row."""
    dag = jn.DAG(graph)
    states = {x: [str(k) for k in range(HIDDEN.get(x, n_states))] for x in dag.nodes}
    tables = {}
    for x in dag.nodes:
        shape = [len(states[h]) for h in dag.parents(x)]
        spread = 20.0 if x in HIDDEN else 0.5
        tables[x] = rng.dirichlet(np.full(len(states[x]), spread), shape)
    parents = {x: dag.parents(x) for x in dag.nodes}
    return jn.BayesianNetwork.from_tables(dag, tables, states, parents=parents)


def main() -> None:
    """Rank, print and draw."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("picture", nargs="?", default="all_structures.svg")
    options.add_argument("--whole", action="store_true")
    options.add_argument("--methods", nargs="+")
    options.add_argument("--sizes", nargs="+", type=int)
    given, _ = options.parse_known_args()
    n_observed, n_states = (4, 5) if given.whole else (3, 3)
    sizes = given.sizes or ([10, 40, 160, 640, 2560] if given.whole else [30, 300])
    every = ["bic", "cheeseman-stutz", "vb", "ais"]
    methods = given.methods or (every if given.whole else ["bic", "vb"])
    names = [f"v{k}" for k in range(1, n_observed + 1)]
    graphs = structures(names)
    truth = "H1 -> v1; H1 -> v2; H2 -> v2; H2 -> v3" + (
        "; H2 -> v4; H1 -> v3" if given.whole else ""
    )
    truth = next(g for g in graphs if jn.DAG(g) in (jn.DAG(truth), jn.DAG(mirrored(truth))))
    rng = np.random.default_rng(1)
    rows = drawn(truth, n_states, rng).sample(max(sizes), random_state=2).select(names)
    model = jn.BayesianNetwork(hidden=HIDDEN, prior=1.0, tol=1e-6, random_state=0)
    ranks = {method: [] for method in methods}
    print(f"{len(graphs)} structures; the rows were drawn from {truth}")
    print("rows  " + "  ".join(f"{m:>16}" for m in methods))
    for n in sizes:
        some = rows.take(np.arange(n))
        for method in methods:
            began = time.perf_counter()
            few = OWN.get(method, {"n_init": 5 if given.whole else 2})
            found = jn.choose_structure(some, graphs, model=model, by=method, **few)
            ranks[method].append(found.rank(truth))
            last = f"{ranks[method][-1]} in {time.perf_counter() - began:.1f} s"
            print(
                f"{n:5d} {last:>16}" if method == methods[0] else f"  {last:>16}",
                end="",
                flush=True,
            )
        print()
    axes = plt.figure(figsize=(6, 4), layout="constrained").add_subplot()
    for method, own in ranks.items():
        axes.plot(sizes, own, "o-", label=method)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="rows",
        ylabel="rank of the structure that made them",
        title=f"{len(graphs)} structures",
    )
    axes.set_xticks(sizes, [str(n) for n in sizes], minor=False)
    axes.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.set_ylim(len(graphs) * 1.1, 0.9)
    axes.minorticks_off()
    axes.legend()
    axes.figure.savefig(given.picture)


def mirrored(graph: str) -> str:
    """The same with the other names of hidden variables."""
    return graph.replace("H1", "H0").replace("H2", "H1").replace("H0", "H2")


if __name__ == "__main__":
    main()
