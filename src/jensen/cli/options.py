"""The options that several commands share."""

from __future__ import annotations

from jensen.cli.command import (
    DATA,
    HIDDEN_STATES,
    OUTPUT,
    PARAMETERS,
    QUESTION,
    SAMPLING,
    STRUCTURE,
    Option,
)
from jensen.scores.registry import (
    AVAILABLE,
    SAMPLE_SIZED,
    SPECS,
    SPREAD_PRIORS,
    TOLD,
    WITH_JOINT_PRIOR,
    WITH_NETWORK,
)
from jensen.support.text import either

# --- arguments ---

TABLE = Option(
    "data",
    "The table: a CSV, TSV or Parquet file, also .gz; - reads CSV from standard input.",
    metavar="DATA",
)
MODEL_FILE = Option("file", "The file of a model; - reads it from standard input.", metavar="MODEL")
NETWORK_FILE = Option(
    "file", "The file of a network; - reads it from standard input.", metavar="NET"
)

# --- how a table is read ---

MISSING = Option(
    "missing",
    "A label that means missing, as in --missing '?'; repeatable. --missing '' says that only "
    "empty fields are missing, and labels like NA are labels.",
    DATA,
    many=True,
    metavar="LABEL",
)
SEPARATOR = Option(
    "separator",
    "The character between the fields of a text file: , ; | or tab, or any other character "
    "(default: found from the first lines).",
    DATA,
    metavar="CHAR",
    suggested=("tab",),
)
DECIMAL = Option(
    "decimal",
    "The decimal mark of numbers in a text file, . or , (default: found column by column).",
    DATA,
    metavar="CHAR",
)
READING = (MISSING, SEPARATOR, DECIMAL)
"""Options of every command that reads a table."""

SCAN = Option(
    "scan",
    "The rows are more than memory holds: they are read piece by piece, and their columns are "
    "kept on disk while the command runs. DATA may then be a folder or a pattern in quotes, "
    "such as 'rows/*.parquet'.",
    DATA,
    kind=bool,
)
CATEGORICAL = Option(
    "categorical",
    "A column of numbers to read as states; repeatable.",
    DATA,
    many=True,
    metavar="COLUMN",
)
CONTINUOUS = Option(
    "continuous",
    "A column of whole numbers to read as measurements; repeatable. all: every column that holds "
    "nothing but numbers.",
    DATA,
    many=True,
    metavar="COLUMN",
)
COUNTS = Option(
    "counts",
    "A column of whole numbers to read as counts; repeatable. In a network a count is Poisson "
    "distributed given its parents, which are labels (other whole numbers are measurements).",
    DATA,
    many=True,
    metavar="COLUMN",
)
STATES = Option(
    "states",
    "All states of a column in their order, also those that never occur; repeatable.",
    DATA,
    many=True,
    metavar="COLUMN=A,B",
)
WEIGHTS = Option(
    "weights", "The column that says how often each row counts.", DATA, metavar="COLUMN"
)
COMPLETE_ROWS = Option(
    "complete_rows",
    "Leave out the rows in which a value is missing.",
    DATA,
    kind=bool,
    default=False,
)
COLUMN = Option(
    "column",
    "A column to learn from; repeatable (default: all columns).",
    DATA,
    many=True,
    metavar="NAME",
)
WITHOUT = Option("without", "A column to leave out; repeatable.", DATA, many=True, metavar="NAME")
SEQUENCES = Option(
    "sequences",
    "For an hmm or lds: the column that tells sequences apart. The rows of a sequence have the "
    "same value in it, stand together, and keep their order (default: all rows are one sequence).",
    DATA,
    metavar="COLUMN",
    belongs={"model": ("hmm", "lds")},
)

INPUTS = Option(
    "inputs",
    "A column that is an input of an lds: given, not explained; repeatable.",
    HIDDEN_STATES,
    many=True,
    metavar="COLUMN",
    belongs={"model": ("lds",)},
)

DISCRETIZE = Option(
    "discretize",
    "Make labels of a column of numbers first: intervals of about equal frequency, so many; "
    "repeatable. The cut points are kept, so that a model reads raw numbers.",
    DATA,
    many=True,
    metavar="NAME=N",
    belongs={"model": ("network",)},
)

# --- how graphs are scored ---

SCORE = Option(
    "score",
    f"The score by which graphs are compared: {TOLD}",
    STRUCTURE,
    metavar="SCORE",
    suggested=tuple(SPECS),
)
SAMPLE_SIZE = Option(
    "equivalent_sample_size",
    f"How many rows the prior is worth, for the scores {either(SAMPLE_SIZED, 'and')} and the "
    f"priors {either(SPREAD_PRIORS, 'and')} (default 1).",
    PARAMETERS,
    kind=float,
    metavar="SIZE",
)
SCALE = Option(
    "scale",
    "The scale of the prior of columns of numbers, for the score and the prior "
    f"{either(WITH_JOINT_PRIOR)}: unit, the published one, for columns in comparable units; a "
    "number, which multiplies the identity matrix; or a .csv file with the matrix below a line "
    "with the names of the columns (default: the variances of the columns, so that units change "
    "nothing).",
    PARAMETERS,
    metavar="SCALE",
    suggested=("unit",),
)
PRIOR_NETWORK = Option(
    "prior_network",
    f"For the score {either(WITH_NETWORK)}: a network that spreads the prior sample.",
    STRUCTURE,
    metavar="NET",
)
GRAPH_PRIOR = Option(
    "graph_prior",
    "A prior over graphs, its logarithm added to their score: uniform; fair (every number of "
    "parents is equally probable); or edges with their probabilities, as in 'A -> B=0.9', "
    "repeatable (default uniform).",
    STRUCTURE,
    many=True,
    metavar="PRIOR",
    suggested=("uniform", "fair"),
)
AVAILABLE_CASE = Option(
    "available_case",
    "Where values are missing, average over the rows in which a family is known (score "
    f"{either(AVAILABLE[::-1])}). Graphs that are learned like this have false edges, unless "
    "hardly any value is missing.",
    STRUCTURE,
    kind=bool,
    default=False,
)

# --- questions to a model ---

GIVEN = Option(
    "given",
    "What is known of a variable; repeatable.",
    QUESTION,
    many=True,
    metavar="NAME=STATE",
    belongs={"model": ("network",)},
)
DO = Option(
    "do",
    "The state that a variable is set to by an intervention; repeatable.",
    QUESTION,
    many=True,
    metavar="NAME=STATE",
    belongs={"model": ("network",)},
)
MISSING_COLUMNS = Option(
    "missing_columns",
    "Variables of the network that have no column are missing in every row: warn of them, or not.",
    DATA,
    values=("warn", "ignore"),
    default="warn",
    belongs={"model": ("network",)},
)
IMPOSSIBLE = Option(
    "impossible",
    "Rows of probability 0: an error, or left without an answer.",
    QUESTION,
    values=("raise", "nan"),
    default="raise",
)
UNKNOWN = Option(
    "unknown",
    "Labels that the model does not know: an error, or taken as missing.",
    DATA,
    values=("raise", "missing"),
    default="raise",
)

# --- runs and their output ---

SEED = Option(
    "seed", "The same seed gives the same answer.", SAMPLING, kind=int, metavar="N", at_least=0
)
CHECKPOINT = Option(
    "checkpoint",
    "A file that keeps the state of the run: after an end by force the same command goes on from "
    "there.",
    OUTPUT,
    metavar="FILE",
)
ROWS_FILE = Option(
    "output",
    "The file for the rows: CSV, TSV or Parquet, also .gz; - prints CSV.",
    OUTPUT,
    flags=("-o", "--output"),
    metavar="FILE",
    default="-",
)
SVG = Option(
    "svg",
    "Draw the network into this file too; - prints the picture.",
    OUTPUT,
    metavar="FILE",
)
THREADS = Option(
    "threads", "The number of threads (default: all).", OUTPUT, kind=int, metavar="N", at_least=1
)
JSON = Option(
    "as_json",
    "Print the answer as JSON, for programs.",
    OUTPUT,
    kind=bool,
    flags=("--json",),
    default=False,
)

INFERENCE = Option(
    "inference",
    "How a network of labels answers: exact (default); auto, exactly where memory allows; loopy "
    "(belief propagation, an estimate), trw (tree-reweighted), mean-field, mini-bucket (bounds on "
    "both sides), gibbs (draws). Answers say what they are.",
    QUESTION,
    values=("exact", "auto", "loopy", "trw", "mean-field", "mini-bucket", "gibbs"),
)
