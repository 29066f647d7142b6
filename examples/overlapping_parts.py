"""Images made of overlapping parts, and the parts recovered: binary factors.

Every image is a sum of some of eight bars that cross each other, and noise. Nobody says which bars
are in which image, nor what a bar is. `BinaryFactors` finds them, also where pixels are missing.
Writes overlapping_parts.svg, or the named file.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

SIZE, N_IMAGES = 6, 400
rng = np.random.default_rng(1)
bars = np.zeros((8, SIZE, SIZE))
for k, place in enumerate((0, 2, 3, 5)):
    bars[k, place, :], bars[4 + k, :, place] = 1.0, 1.0
bits = rng.random((N_IMAGES, 8)) < 0.3
images = bits @ bars.reshape(8, -1) + 0.3 * rng.standard_normal((N_IMAGES, SIZE * SIZE))
images[rng.random(images.shape) < 0.1] = np.nan

found = {
    "em": jn.BinaryFactors(8, n_init=4, random_state=0).fit(images),
    "mean field": jn.BinaryFactors(8, method="variational-em", n_init=4, random_state=0).fit(
        images
    ),
}


def matched(parts):
    """Recovered parts in the order of the bars, and how far the furthest pixel is off."""
    apart = np.abs(parts[:, None] - bars.reshape(8, -1)).max(2)
    order = apart.argmin(0)
    return parts[order], apart.min(0).max()


rows = {"bars": bars.reshape(8, -1), "images": images[:8]}
print("                   F    images  parts found  furthest pixel")
for name, model in found.items():
    parts, furthest = matched(model.loadings_.T)
    rows[name] = parts
    n = len({int(np.abs(part - bars.reshape(8, -1)).max(1).argmin()) for part in model.loadings_.T})
    print(f"{name:12} {model.free_energy_:10.2f} {N_IMAGES:6} {n:10} {furthest:14.2f}")
gap = found["mean field"].bound_gap(images)
print(f"mean field loses {gap.mean():.4f} nats an image, {gap.max():.3f} at most")

figure, panels = plt.subplots(len(rows), 8, figsize=(9, 1.25 * len(rows)), layout="constrained")
for panel_row, (name, pictures) in zip(panels, rows.items(), strict=True):
    for axes, picture in zip(panel_row, pictures, strict=True):
        axes.imshow(picture.reshape(SIZE, SIZE), cmap="Greys", vmin=-0.2, vmax=1.6)
        axes.set(xticks=[], yticks=[])
    panel_row[0].set_ylabel(name)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "overlapping_parts.svg")
