"""The dishonest casino: when the loaded die was in play.

300 rolls (Durbin et al. 1998, *Biological Sequence Analysis*, section 3.2) of a fair die that is
sometimes exchanged for a loaded one. The model is known here; which die was rolled is not.
Writes casino.svg, or the named file.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

ROLLS = (
    "315116246446644245311321631164152133625144543631656626566666651166453132651245636664631636663162"
    "326455236266666625151631222555441666566563564324364131513465146353411126414626253356366163666466"
    "232534413661661163252562462255265252266435353336233121625364414432335163243633665562466662632666"
    "612355245242"
)

casino = jn.HiddenMarkovModel.from_parameters(
    initial=[0.5, 0.5],
    transition=[[0.95, 0.05], [0.1, 0.9]],
    emission=[[1 / 6] * 6, [0.1] * 5 + [0.5]],
    symbols=range(1, 7),
)
rolls = list(ROLLS)
path = casino.decode(rolls)
loaded = casino.smooth(rolls)[:, 1]

figure, axes = plt.subplots(figsize=(9, 2.6), layout="constrained")
axes.fill_between(np.arange(300), path, step="mid", color="#e8c9c1", lw=0, label="best path")
axes.plot(loaded, color="#b3412b", label="P(loaded | all rolls)")
sixes = np.flatnonzero(np.array(rolls) == "6")
axes.plot(sixes, np.full(len(sixes), -0.06), "|", color="#1f5fa8", label="a six")
axes.set(xlabel="roll", xlim=(0, 300), ylim=(-0.12, 1.02), yticks=[0, 0.5, 1])
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "casino.svg")

changes = np.flatnonzero(np.diff(path)) + 1
print("from   to     die     sixes")
for start, stop in zip([0, *changes], [*changes, 300], strict=True):
    die = "loaded" if path[start] else "fair"
    share = np.mean([roll == "6" for roll in rolls[start:stop]])
    print(f"{start + 1:4}   {stop:4}   {die:6}  {share:5.0%}")
