"""Build a network by hand, draw rows from it, save it, load it, and learn it again."""

import tempfile
from pathlib import Path

import jensen as jn

net = jn.BayesianNetwork.from_tables(
    "burglary -> alarm <- earthquake",
    {
        "burglary": [0.99, 0.01],
        "earthquake": [0.98, 0.02],
        "alarm": {
            ("no", "no"): [0.999, 0.001],  # burglary, earthquake: parents are ordered by name
            ("no", "yes"): [0.71, 0.29],
            ("yes", "no"): [0.06, 0.94],
            ("yes", "yes"): [0.05, 0.95],
        },
    },
    states={name: ["no", "yes"] for name in ("alarm", "burglary", "earthquake")},
)

with tempfile.TemporaryDirectory() as folder:
    net.save(Path(folder) / "alarm.json")
    same = jn.load(Path(folder) / "alarm.json")
print("loaded back equal:", same.equals(net))

rows = net.sample(100_000, random_state=0)
learned = jn.BayesianNetwork(net.graph, prior=1.0).fit(rows)
print(learned.cpt("alarm"))
