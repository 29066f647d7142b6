"""What a JSON file may hold: the format that stands at its top, and the class that reads it.

Each of these classes has `to_dict()`, which gives plain data with "format" first, and
`from_dict(value)`, which reads them again.
"""

SAVED = {
    "jensen-network": "jensen.estimators.bayesian_network:BayesianNetwork",
    "jensen-gaussian-network": "jensen.estimators.bayesian_network:BayesianNetwork",
    "jensen-states": "jensen.estimators.state_estimator:StatesEstimator",
    "jensen-structure-posterior": "jensen.q_graph.posterior.base:StructurePosterior",
}
