"""What breaks where values are missing: rows dropped, cells filled in, and structural EM.

Cells of rows from a known network go missing in three ways: by chance; at random, more often where
another column, which is always known, has its first label; and not at random, more often where the
lost label itself is the last one. The graph is then learned from the rows without holes alone, with
each hole filled by the most frequent label of its column, by scores of each family's own known
rows, and by structural EM. Counted are the pairs of variables that the learned class of graphs
joins differently from the true one. Writes rows_with_holes.svg, or the named file.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

warnings.simplefilter("ignore", jn.DataWarning)  # where few rows are left, columns are constant
SHARES = [0.05, 0.15, 0.25]
ALWAYS_KNOWN = "PKA"

truth = jn.examples.load("sachs")
frame = truth.sample(5_000, random_state=0).to_pandas().astype(object)
states = truth.states


def with_holes(share, way):
    """The rows with about this share of the cells lost, in one of the three ways."""
    rng, lost = np.random.default_rng(1), frame.isna()
    for name in frame.columns.drop(ALWAYS_KNOWN):
        odds = np.ones(len(frame))
        if way == "at random":
            odds[frame[ALWAYS_KNOWN] == states[ALWAYS_KNOWN][0]] = 3.0
        elif way == "not at random":
            odds[frame[name] == states[name][-1]] = 3.0
        lost[name] = rng.random(len(frame)) < np.minimum(share * odds / odds.mean(), 0.6)
    return frame.mask(lost)


def without_holes(holes):
    """Learn from the rows that miss nothing; of few rows some columns hold one label only."""
    return jn.learn_structure(jn.Table(holes, states=states).complete_rows(), score="bic")


def filled_in(holes):
    """Learn as if the most frequent label stood in every hole."""
    most_frequent = holes.mode().iloc[0]
    return jn.learn_structure(jn.Table(holes.fillna(most_frequent), states=states), score="bic")


def available_cases(holes):
    """Score each family by the rows that show all of it."""
    table = jn.Table(holes, states=states)
    return jn.learn_structure(table, score="bic", missing="available-case")


def structural_em(holes):
    """Complete every row in all ways, by what the network so far says."""
    return jn.learn_structure(jn.Table(holes, states=states), score="bic", random_state=0)


learners = {
    "rows without holes": without_holes,
    "filled in": filled_in,
    "available cases": available_cases,
    "structural EM": structural_em,
}
complete = truth.graph.shd(jn.learn_structure(jn.Table(frame, states=states), score="bic"))
print(f"nothing missing: {complete} pairs joined differently")
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for axes, way in zip(panels, ("by chance", "at random", "not at random"), strict=True):
    print(f"missing {way}:", *(f"{share:5.0%}" for share in SHARES))
    tables = [with_holes(share, way) for share in SHARES]
    for name, learn in learners.items():
        found = [truth.graph.shd(learn(table)) for table in tables]
        axes.plot(SHARES, found, "o-", label=name)
        print(f"  {name:20}", *(f"{d:5}" for d in found))
    axes.axhline(complete, color="black", linewidth=1, linestyle=":")
    axes.set(title=f"missing {way}", xlabel="share of cells")
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set(ylabel="pairs joined differently", ylim=(0, None))
panels[0].legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "rows_with_holes.svg")
