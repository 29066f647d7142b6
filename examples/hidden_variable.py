"""Recover a hidden variable: nobody recorded which of two illnesses a patient had.

Six symptoms depend on the illness. EM is started ten times, because a likelihood with something
hidden may have several tops (here all starts agree); then each patient's illness is guessed.
"""

import numpy as np

import jensen as jn

often = {
    "fever": (0.9, 0.3),
    "cough": (0.8, 0.1),
    "rash": (0.1, 0.7),
    "headache": (0.6, 0.5),
    "nausea": (0.2, 0.8),
    "fatigue": (0.7, 0.4),
}
SYMPTOMS = list(often)
graph = "; ".join(f"illness -> {symptom}" for symptom in SYMPTOMS)
truth = jn.BayesianNetwork.from_tables(
    graph,
    {"illness": [0.6, 0.4], **{s: [[1 - a, a], [1 - b, b]] for s, (a, b) in often.items()}},
    states={"illness": ["flu", "measles"], **{s: ["no", "yes"] for s in SYMPTOMS}},
)
patients = truth.sample(2000, random_state=0)
records = patients.select(SYMPTOMS)  # the illness was never written down

net = jn.BayesianNetwork(graph, hidden={"illness": 2}, n_init=10, random_state=0).fit(records)

print("F of the ten starts:", np.round(np.sort(net.starts_)[::-1], 2))
print(f"\n{'P(yes | illness)':18}{'true':>14}{'recovered':>18}")
for symptom in SYMPTOMS:
    found = net.cpt(symptom).values[:, 1]
    print(
        f"{symptom:18}{often[symptom][0]:7.2f}{often[symptom][1]:7.2f}{found[0]:11.2f}{found[1]:7.2f}"
    )
guessed = net.predict(records, "illness") == "1"  # states are in order of falling probability
right = np.mean(guessed == (patients.column("illness").data == 1))
print(f"\nthe illness is guessed right for {right:.1%} of the patients")
