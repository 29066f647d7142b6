"""`jensen demo`: a bundled example, end to end, with an explanation of what is done."""

from jensen.cli import outputs
from jensen.cli.command import Command, Given
from jensen.support.text import plural

ROWS = 5000

KERNELS = (
    *("add_log_probabilities", "added_hope", "best_move", "count_bits", "count_left_out"),
    *("count_pairs", "count_single_with_each", "count_with_bits", "draw_rows", "expect"),
    *("find_bases", "find_hidden", "improve_order", "intern", "list_around"),
    *("merge_families", "order_graph", "order_sets", "pack_bits", "place_others"),
    *("score_pairs", "score_set", "set_families", "set_family", "write_programs"),
)
"""What is called on the way: on the first day compiled side by side rather than one by one."""


def run(given: Given) -> None:
    """Learn a bundled example end to end, and explain what is done."""
    from jensen import examples
    from jensen.estimators.bayesian_network import BayesianNetwork
    from jensen.q_graph.learning import learn_structure
    from jensen.scores import score

    _compile()
    truth = examples.load("asia")
    print("The chest clinic (Lauritzen and Spiegelhalter 1988): how smoking and a visit to Asia")
    print(f"lead to lung disease, and disease to findings. {truth}.\n")
    print(f"  {truth.graph}\n")

    print(f"1. Draw {ROWS:,} patients from the published tables, as if they had been observed.\n")
    table = truth.sample(ROWS, random_state=0)

    print("2. Forget the tables and learn them again from the patients, under the BDeu prior:")
    print("   every table gets a Dirichlet posterior; nothing is certain after finite data.\n")
    net = BayesianNetwork(truth.graph, prior="bdeu").fit(table)
    print(_indent(net.posterior("dysp")), "\n")
    print("   The published table, for comparison:\n")
    print(_indent(truth.cpt("dysp")), "\n")

    print("3. Ask how well a graph explains the patients: log p(data | graph), higher is better.\n")
    fresh = truth.sample(ROWS, random_state=1)
    wrong = truth.graph.without_edge("smoke", "lung")
    for label, graph in [("the true graph", truth.graph), ("without smoke -> lung", wrong)]:
        print(f"   {label:24}{score(graph, table, 'bdeu'):14.2f}")
    print(f"\n   On average a new patient has log-probability {net.score(fresh):.4f}.\n")

    print("4. Forget the graph too, and look for the best one by changing edge after edge:\n")
    found = learn_structure(table)
    distance = found.cpdag().shd(truth.graph.cpdag())
    print(f"   {found}\n")
    print(f"   Its score is {found.info.score:.2f}. Directions that no data can tell aside,")
    print(f"   it differs from the true graph in {plural(distance, 'edge')}.\n")

    print("5. Ask about one patient: a smoker whose X-ray is abnormal.\n")
    print(_indent(net.query("lung", given={"smoke": "yes", "xray": "yes"})), "\n")

    print("6. Values may be missing. Take away whether there was cancer or tuberculosis, in all")
    print("   patients, and learn again from what is left: `either` is now a hidden variable.\n")
    seen = table.select([name for name in table.names if name != "either"])
    hidden = BayesianNetwork(
        truth.graph, hidden={"either": 2}, prior="bdeu", n_init=3, random_state=0
    ).fit(seen)
    print(_indent(hidden.cpt("xray")))
    print("\nThe same with your own data:")
    print("  jensen learn patients.csv --prior bdeu --svg net.svg -o net.json")
    print("  jensen learn patients.csv --graph 'smoker -> cancer' --prior bdeu -o net.json")
    print("  jensen show net.json")
    print("  jensen query net.json cancer --given smoker=yes")


def _compile() -> None:
    """Use all cores if much has to be compiled; on one, it is done when it is needed."""
    from jensen.kernels import COMPILING, log, never_cached
    from jensen.support.kernel_cache import writable_folder
    from jensen.support.machine import get_threads

    missing = set(KERNELS).intersection(never_cached())
    if len(missing) > 1 and get_threads() > 1 and writable_folder() is not None:
        log.info(COMPILING)
        outputs.compile_kernels(missing)


def _indent(thing: object) -> str:
    return "\n".join(f"   {line}" for line in repr(thing).splitlines())


COMMAND = Command(name="demo", run=run, group="Tools", options=(), examples=("jensen demo",))
