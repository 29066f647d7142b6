"""The options of `jensen learn`, in the order of its help page."""

from __future__ import annotations

from typing import Any

from jensen.cli import options
from jensen.cli.command import DATA, OUTPUT, PARAMETERS, SAMPLING, STRUCTURE, Option
from jensen.cli.inputs import FACTORS
from jensen.cli.model_options import GRAPHS, NETWORK, STATE_OPTIONS, WHOLE
from jensen.q_graph.method_choices import COMPLETIONS, HAVE, METHODS, WAYS
from jensen.scores.registry import DEFAULTS, NUMBER_PRIORS, PRIORS
from jensen.support.text import either

LEARNED, KNOWN = "a graph that is learned", "a graph that is given by --graph"
STRUCTURES = (*METHODS, "tree", "naive", "tan")
COUNT: dict[str, Any] = {**WHOLE, "at_least": 0}
"""An option that takes a whole number, and one that takes 0, 1, 2, ..."""


def _of_graph(name: str, text: str, argument: str = "", **more: Any) -> Option:
    """An option of learned graphs; the library's table says which structures have its argument."""
    return _for_learned(Option(name, text, STRUCTURE, **more), argument)


def _for_learned(option: Option, argument: str = "") -> Option:
    owners = HAVE.get(argument or option.name, METHODS)
    return option.but(belongs={**NETWORK, "graph": (LEARNED,), "structure": owners})


DATA_OPTIONS = (
    options.TABLE,
    options.COLUMN.but(belongs={"graph": (LEARNED,)}),
    options.WITHOUT.but(belongs={"graph": (LEARNED,)}),
    options.MISSING.but(
        help="A label that means missing, as in --missing '?'; repeatable. --missing '' says that "
        "only empty fields are missing, and labels like NA are labels. Or, where a graph is "
        "learned, what is done with missing values. structural-em (default): rows are completed in "
        "all ways, each with its probability; node-average: a family is averaged over the rows "
        "that show all of it; available-case: as --available-case; refuse: nothing is learned. A "
        "label of the table that is spelled like one of these is a label.",
        metavar="LABEL|WAY",
        suggested=WAYS,
    ),
    *options.READING[1:],
    options.CATEGORICAL,
    options.CONTINUOUS,
    options.COUNTS.but(belongs={"model": ("network", "mixture", "latent-class", "hmm")}),
    options.WEIGHTS,
    options.SCAN.but(belongs=NETWORK),
    options.COMPLETE_ROWS,
    options.DISCRETIZE,
    options.SEQUENCES,
    _of_graph(
        "interventions",
        "The column that names, row by row, the variable that was set by an intervention, or is "
        "empty. Such a row does not count for the score and the parameters of that variable.",
        metavar="COLUMN",
    ).but(group=DATA),
)

STRUCTURE_OPTIONS = (
    Option(
        "graph",
        "The graph of a network: 'A -> B <- C; B -> D', '[A][C][B|A:C][D|B]', or a network file "
        "(default: learned from all columns). Of --model markov 'A - B - C', or a network file, "
        "whose moral graph is taken (default: all pairs).",
        STRUCTURE,
        metavar="GRAPH",
        belongs=GRAPHS,
    ),
    Option(
        "structure",
        "How a graph is learned. hill-climb: by the best change of one edge, until none gains; "
        "tabu: the same, and on over losses; exact: the proven optimum (for more than 24 variables "
        "with --max-parents 3 or so, and the extra jensen[exact]); ges: by changes of whole "
        "classes of equivalent graphs; pc: by tests of independence; mmhc: by tests, then hill "
        "climbing; tree: the most likely tree (a forest with --score bic or aic); naive: --target "
        "points to every column; tan: besides, these are joined by their most likely tree.",
        STRUCTURE,
        values=STRUCTURES,
        default="hill-climb",
        belongs={**NETWORK, "graph": (LEARNED,)},
    ),
    Option(
        "target",
        "The class of naive and tan: a column of labels.",
        STRUCTURE,
        metavar="COLUMN",
        belongs={**NETWORK, "graph": (LEARNED,), "structure": ("naive", "tan")},
    ),
    options.SCORE.but(
        belongs={**NETWORK, "graph": (LEARNED,), "structure": (*HAVE["score"], "tree")}
    ),
    _of_graph("max_parents", "The largest number of parents of a variable.", **COUNT),
    _of_graph(
        "required", "An edge that the graph must have; repeatable.", many=True, metavar="'A -> B'"
    ),
    _of_graph(
        "forbidden",
        "An edge that the graph must not have; repeatable.",
        many=True,
        metavar="'A -> B'",
    ),
    _of_graph(
        "tier",
        "Variables of the same time. Give two or more tiers, from first to last: no edge leads "
        "back to an earlier one. A variable in no tier may have any edge.",
        many=True,
        metavar="A,B",
    ),
    _for_learned(options.GRAPH_PRIOR, "prior"),
    _for_learned(options.PRIOR_NETWORK),
    _for_learned(options.AVAILABLE_CASE, "missing"),
    _of_graph(
        "completion",
        "How rows with missing values are completed while graphs are searched: exact, in all ways; "
        "map, in all ways at the mean of the parameters; draw, ten times at random; mode, in the "
        "most probable way, with numbers at their means. Only with exact the objective never "
        "falls; the last two are quicker with many values missing, but may end at a worse graph "
        "(default exact).",
        values=COMPLETIONS,
    ),
    _of_graph(
        "missing_indicators",
        "Add a variable 'X missing' for every column X with missing values, on which no other "
        "variable depends: for values that are missing because of what they are.",
        kind=bool,
        default=False,
    ),
    _of_graph(
        "start_graph",
        "The graph with which a search begins, written as in --graph.",
        "start",
        metavar="GRAPH",
    ),
    _of_graph(
        "restarts",
        "How often a search begins again from its best graph, changed at random (--seed).",
        **COUNT,
    ),
    _of_graph(
        "tabu_length",
        "How many moves tabu goes on without a better graph (default 100). Without --restarts a "
        "longer one never ends at a worse graph.",
        **COUNT,
    ),
    _of_graph(
        "time_limit",
        "Seconds after which exact ends with the best graph so far, and says how much better "
        "another one may be.",
        kind=float,
        metavar="SECONDS",
    ),
    _of_graph(
        "bootstrap",
        "Learn N graphs from rows that are drawn again (--seed), and keep the edges that are found "
        "often enough.",
        **WHOLE,
        at_least=1,
    ),
    _of_graph(
        "test",
        "The test of independence for pc and mmhc: g2, x2 or mutual-information for columns of "
        "labels, fisher-z for columns of numbers, conditional-gaussian for both (default g2 or "
        "fisher-z).",
        values=("g2", "x2", "mutual-information", "fisher-z", "conditional-gaussian"),
    ),
    _of_graph(
        "alpha",
        "Significance level for the tests of pc and mmhc (default 0.05).",
        kind=float,
        metavar="P",
    ),
    _of_graph(
        "max_given",
        "The largest number of variables that a test of pc and mmhc conditions on (default: the "
        "number of neighbours).",
        **COUNT,
    ),
    _of_graph(
        "correction",
        "Correction for the many tests of pc. bonferroni: with probability 1 - alpha no edge is "
        "false; fdr: about a share alpha of the edges is false.",
        values=("bonferroni", "fdr"),
    ),
    _of_graph(
        "permutations",
        "How often the rows are shuffled for a p-value in the tests of pc and mmhc, for columns of "
        "labels (--seed; default: p-values from the chi-squared distribution).",
        **COUNT,
    ),
)

EXACT = ("em", "vbem", "viterbi", "me", "stochastic-em", "gibbs")
LOG_LINEAR = ("ml", "pseudo", "cd", "pcd")
"""Methods of Markov networks."""
PARAMETER_OPTIONS = (
    Option(
        "prior",
        f"The prior of the parameters. For a network: {', '.join(PRIORS)}, or the Dirichlet "
        f"concentration of every cell; {either(NUMBER_PRIORS)} for columns of numbers (default: "
        f"flat; {DEFAULTS['categorical']}, {DEFAULTS['continuous']} or, for labels and numbers "
        f"together, {DEFAULTS['mixed']} for vbem, me and gibbs), of which strength=0.01 weakens or "
        "strengthens what is said of numbers (default: by evidence). For other models: default, or "
        "parts with their numbers, as in concentration=0.01,mean_strength=2, with the names that "
        "they have in Python (default: flat; default for vbem, me and gibbs). Of --model markov a "
        "penalty of its interactions, ridge=1 or l1=10; of rbm ridge=1.",
        PARAMETERS,
        metavar="PRIOR",
        suggested=(*PRIORS, *NUMBER_PRIORS, "default"),
    ),
    Option(
        "method",
        "How parameters are learned: em (the most likely ones), vbem (their posterior), viterbi "
        "and me (the same, with the most probable completion of the rows), stochastic-em and gibbs "
        "(with drawn completions); of labels and binary factors also variational-em and mean-field "
        "(what is missing independent), loopy-em and loopy (by loopy beliefs: no bound); default: "
        "em without a prior, else vbem. Of --model markov and rbm ml (the most likely ones, "
        "default), or by chains pcd and cd, of markov also pseudo (the pseudo-likelihood).",
        PARAMETERS,
        metavar="METHOD",
        suggested=(*EXACT, "variational-em", "mean-field", "loopy-em", "loopy", *LOG_LINEAR),
    ),
    options.SAMPLE_SIZE.but(belongs=NETWORK),
    Option(
        "mode",
        "In which coordinates em, viterbi and stochastic-em seek the mode of tables under a prior. "
        "probabilities: counts + concentration - 1, for concentrations of at least 1; softmax: "
        "counts + concentration, for every prior (default probabilities).",
        PARAMETERS,
        values=("probabilities", "softmax"),
        belongs=NETWORK,
    ),
    options.SCALE.but(belongs=NETWORK),
    Option(
        "fixed",
        "A variable whose table stays as --start has it; repeatable.",
        PARAMETERS,
        many=True,
        metavar="NAME",
        belongs={**NETWORK, "graph": (KNOWN,)},
    ),
    Option(
        "block",
        "Variables A,B that mean-field and variational-em keep together; repeatable.",
        PARAMETERS,
        many=True,
        metavar="A,B",
        belongs={**NETWORK, "graph": (KNOWN,)},
    ),
    Option("n_init", "Random starts, of which the best is kept (default 1).", PARAMETERS, **WHOLE),
    Option("max_iter", "The largest number of sweeps (default 1000).", PARAMETERS, **WHOLE),
    Option(
        "tol",
        "The relative gain below which sweeps end (default 1e-8).",
        PARAMETERS,
        kind=float,
        metavar="T",
    ),
    Option(
        "accelerate",
        "Let sweeps of em, vbem and other ascents begin at a better place, which past sweeps tell. "
        "What is climbed never falls; slow ascents take a tenth of the sweeps.",
        PARAMETERS,
        kind=bool,
        default=False,
        belongs={"model": ("network", "mixture", "latent-class", "trees", "hmm", *FACTORS)},
    ),
    Option(
        "start",
        "A file of such a model, whose parameters are the start.",
        PARAMETERS,
        metavar="FILE",
        belongs={"graph": (KNOWN,)},
        because="the parameters to start with are those of a known graph; --start-graph says where "
        "a search begins",
    ),
)

SAMPLING_OPTIONS = (
    options.SEED,
    Option(
        "n_samples",
        "The number of samples of each chain of gibbs and stochastic-em (default 1000).",
        SAMPLING,
        **WHOLE,
    ),
    Option("burn_in", "Sweeps before the first sample (default 1000).", SAMPLING, **WHOLE),
    Option("thin", "Sweeps from one sample to the next (default 1).", SAMPLING, **WHOLE),
    Option(
        "n_chains",
        "The number of chains (default 4; 100 side by side for pcd and cd).",
        SAMPLING,
        **WHOLE,
    ),
)

OUTPUT_OPTIONS = (
    Option(
        "output",
        "The file for the model; - prints it.",
        OUTPUT,
        flags=("-o", "--output"),
        metavar="FILE",
    ),
    options.SVG.but(belongs=GRAPHS),
    options.JSON,
    options.CHECKPOINT,
    options.THREADS,
)

OPTIONS = (
    *DATA_OPTIONS,
    *STRUCTURE_OPTIONS,
    *PARAMETER_OPTIONS,
    *STATE_OPTIONS,
    *SAMPLING_OPTIONS,
    *OUTPUT_OPTIONS,
)

TESTS = ("test", "alpha", "max_given", "permutations", "correction")
"""How tests of independence are made."""
