"""Digits with a hole, filled in by a restricted Boltzmann machine.

Sixteen hidden units learn 1,500 black and white digits by persistent chains; as all states of the
hidden units can be listed, log Z is exact, and so is the likelihood of digits that were left out.
Then a part of each digit is missing. Missing pixels are units that are not clamped: each is filled
with its probability given the rest. Writes missing_pixels.png, or the named file.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import jensen as jn

images = (load_digits().data >= 8).astype(float)
seen, left_out = images[:1500], images[1500:]
machine = jn.RBM(16, method="pcd", n_iter=60, random_state=0).fit(seen)
print(machine.summary())
print(f"a digit that was left out: {machine.score(left_out):.3f} nats")

chosen = left_out[[0, 7, 13, 18, 22, 31, 40, 53]]
holes = chosen.copy().reshape(-1, 8, 8)
holes[:, 3:6, 2:6] = np.nan
holes = holes.reshape(len(chosen), 64)
filled = machine.impute(holes)
gone = np.isnan(holes)
p = np.where(chosen == 1.0, filled, 1.0 - filled)[gone]
mean = np.clip(seen.mean(0), 0.001, 0.999)
blind = np.where(chosen == 1.0, mean, 1.0 - mean)[gone]
own, alone = -np.log2(p).mean(), -np.log2(blind).mean()
print(f"bits a missing pixel: {own:.3f}, by its mean alone {alone:.3f}")

rows = {"digit": chosen, "hole": holes, "filled in": filled, "drawn": machine.sample(8, 0)}
figure, panels = plt.subplots(len(rows), 8, figsize=(8, 4.2), layout="constrained")
for panel_row, (name, pictures) in zip(panels, rows.items(), strict=True):
    for axes, picture in zip(panel_row, pictures, strict=True):
        axes.set_facecolor("tab:orange")  # what is missing
        axes.imshow(picture.reshape(8, 8), cmap="Greys", vmin=0.0, vmax=1.0)
        axes.set(xticks=[], yticks=[])
    panel_row[0].set_ylabel(name)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "missing_pixels.png", dpi=100)
