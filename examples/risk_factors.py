"""Which risk factors of a heart disease interact? A Markov network of a published table.

Six yes-or-no questions to 1,841 workers of a Czech car factory: smoking, strenuous mental work,
strenuous physical work, systolic blood pressure above 140, a high ratio of lipoproteins, and
coronary disease in the family (Reinis and others 1981; the counts as in Edwards and Havranek 1985,
Biometrika 72). All pairs interact at first; then an l1 penalty leaves the interactions that pay.
Writes risk_factors.svg, or the named file.
"""

import sys
from itertools import product
from pathlib import Path

import jensen as jn

NAMES = ["family", "protein", "systolic", "physical", "mental", "smoking"]
COUNTS = """
44 40 112 67 129 145 12 23 35 12 80 33 109 67 7 9 23 32 70 66 50 80 7 13 24 25 73 57 51 63 7 16
5 7 21 9 9 17 1 4 4 3 11 8 14 17 5 2 7 3 14 14 9 16 2 3 4 0 13 11 5 14 4 4
"""
cells = list(product("yn", repeat=6))  # smoking runs fastest
columns = {name: [cell[k] for cell in cells] for k, name in enumerate(NAMES)}
workers = jn.Table(columns, weights=list(map(int, COUNTS.split())))

net = jn.MarkovNetwork().fit(workers)
print(net.standard_errors().interactions)
print(f"\nlog-likelihood {net.free_energy_:.4f}, {net.parameters_count} parameters")

sparse = jn.MarkovNetwork(prior={"l1": 50.0}).fit(workers)
kept = [pair for pair, effect in sparse.effects().interactions.items() if effect.strength > 0]
again = jn.MarkovNetwork(kept).fit(workers)
lost = 2.0 * (net.free_energy_ - again.free_energy_)
left_out = net.parameters_count - again.parameters_count
print(
    f"{len(kept)} of 15 interactions are left; twice the loss is {lost:.1f} on {left_out} degrees"
)
print(net.query("systolic", given={"smoking": "y", "protein": "y"}))
picture = sys.argv[1] if len(sys.argv) > 1 else "risk_factors.svg"
Path(picture).write_text(again.to_svg(beliefs=True), encoding="utf-8")
