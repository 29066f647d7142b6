"""Learn the tables of a network, and see how sure they are.

A few dozen patients are not many: the credible intervals show which probabilities they determine.
"""

import jensen as jn

patients = jn.examples.load("asia").sample(60, random_state=0)
net = jn.BayesianNetwork("smoke -> bronc -> dysp", prior="bdeu").fit(patients)

print(net.posterior("bronc"))
print()
print(net.posterior("dysp"))
