"""Fitted models and the questions that they answer.

`fitted` has the protocols. Networks of tables: `network` with `cpt` and `handmade`, `findings`
(evidence as codes), `questions` (compiled once per form), `network_queries`, `marginals` and
`most_probable` (one set of findings), `rows` and `network_rows` (many rows, draws), `expected`
(statistics of incomplete rows), `impossible` (why evidence contradicts itself). Networks of
regressions: `gaussian_network`, `regression`, `gaussian_joint` and `gaussian_queries`. Networks of
labels and numbers: `mixed_network` and `mixed_parameters`, `mixed_findings` (evidence as a row),
`mixed_solver` (rows solved), `mixed_queries` and `mixed_components` (one question, mixtures),
`mixed_rows`, `mixed_completions` and `mixed_draws` (many rows, draws). Hidden states: `mixtures`
and `chains`. Answers: `distribution`, `gaussian_distribution` and `number_mixture`. As plain data:
`network_formats` with `network_files`; `states_file`.
"""

from jensen.inference.cpt import CPT, TablePosterior
from jensen.inference.distribution import Distribution, Distributions
from jensen.inference.network import Network

__all__ = ["CPT", "Distribution", "Distributions", "Network", "TablePosterior"]
