"""What a report says in sentences: one for each figure, made from the same facts as the figure."""

import math

from graphbo.seeing.run_facts import RunFacts
from graphbo.seeing.series import ENOUGH
from graphbo.types import NodeKey
from graphbo.types.text import cut, duration, number, plural

__all__ = [
    "captions",
    "configuration",
    "shortened",
    "state_in_words",
    "tiles",
]

LONGEST_KEY = 80
#: With more nodes than this, the page draws those that are far from the search faintly (``page/figures.js``).
CROWD = 250


def shortened(value: object, longest: int = LONGEST_KEY) -> str:
    """Text that fits, with a mark where it was cut."""
    return cut(str(value), longest)


def state_in_words(facts: RunFacts) -> str:
    """How the run stood."""
    when = facts.taken_at[:16].replace("T", " ") + " UTC"
    if facts.is_open:
        waiting = f", {plural(len(facts.pending), 'node')} being evaluated" if facts.pending else ""
        return f"A snapshot of {when}: the run was still open{waiting}."
    state = {"finished": "The run had finished", "stopped": "The run was stopped"}
    return f"{state.get(facts.state, 'The run was over')}; this was made on {when}."


def tiles(facts: RunFacts) -> list[tuple[str, str, str]]:
    """The numbers beside the answer: what, how much, a remark."""
    budget = facts.settings.budget
    none = "no budget was set" if facts.settings.budget_cost is None else "of any number"
    of = f"of {budget:,}" if budget is not None else none
    found = [("Evaluations", f"{facts.used:,}", of)]
    if facts.settings.cost is not None:
        most = facts.settings.budget_cost
        found.append(
            ("Spent", number(facts.spent), "of " + number(most) if most else "no limit was set")
        )
    if facts.best is not None:
        found.insert(0, ("Found with", *_when(facts)))
    if facts.regret is not None:
        found.append(("Regret", number(facts.regret), f"the optimum is {number(facts.optimum)}"))
    regions = len({step.restart for step in facts.region})
    if regions:
        found.append(("Regions", f"{regions:,}", "where it looked"))
    if facts.warm:
        found.append(("Known values", f"{facts.warm:,}", "cost no budget"))
    if facts.failed:
        found.append(("Failed", f"{facts.failed:,}", "gave no value"))
    return found


def _when(facts: RunFacts) -> tuple[str, str]:
    if facts.best is None or facts.best.step < 0:
        return "–", "a known value"
    row = next(
        (row for row, one in enumerate(facts.history) if one.step == facts.best.step),
        len(facts.history) - 1,
    )
    how = {
        "model": "chosen by the model",
        "scout": "a scout, chosen by its features",
        "prior": "the most promising by the prior",
        "search": "reached by the search",
        "chosen": "named by a person",
    }
    # As in `best` and in the history: several workers may tell in another order than they asked.
    return f"evaluation {facts.best.step:,}", how.get(facts.history[row].phase, "a random node")


def captions(facts: RunFacts) -> dict[str, str]:
    """A sentence or two for each figure."""
    return {
        "convergence": _convergence(facts),
        "map": _map(facts),
        "kernel": _kernel(facts),
        "region": _region(facts),
        "calibration": _calibration(facts),
        "time": _time(facts),
    }


def _convergence(facts: RunFacts) -> str:
    values = [one.value for one in facts.history if one.value is not None]
    if not values:
        return "Nothing has been measured yet."
    goal = "higher" if facts.maximize else "lower"
    start = next(value for value in facts.best_so_far if value is not None)
    end = facts.best_so_far[-1]
    gained = (
        f"The best value went from {number(start)} to {number(end)}"
        if start != end
        else f"The first value, {number(start)}, is still the best"
    )
    regret = ""
    if facts.regret is not None:
        regret = f"; {number(facts.regret)} from the optimum" if facts.regret else "; the optimum"
    return f"{gained} ({goal} is better{regret}). Each dot is a measurement, the line is the best so far."


def _map(facts: RunFacts) -> str:
    if facts.map is None:
        return "There is no map: nothing has been measured yet."
    drawn = facts.map
    if drawn.whole:
        what = f"The whole graph, {plural(len(drawn.keys), 'node')}"
    else:
        what = (
            f"{plural(len(drawn.keys), 'node')}: those that were measured"
            f"{', a few neighbours of each' if drawn.around else ''} and the latest region"
        )
        if drawn.nodes is not None:
            what += f", of a graph of {drawn.nodes:,}"
    left = " What is far from the search is faint." if len(drawn.keys) > CROWD else ""
    if drawn.connectors == 1:
        left += " The small grey square is a connector, which is never measured."
    elif drawn.connectors:
        left += f" The {drawn.connectors:,} small grey squares are connectors, which are never measured."
    if drawn.hubs:
        left += f" {plural(drawn.hubs, 'connector')} with too many neighbours left out."
    if drawn.more_measured:
        left += f" {plural(drawn.more_measured, 'measured node')} of middling value not drawn."
    if drawn.more_edges:
        weak = "weaker edge" if facts.view is not None and facts.view.paths else "edge"
        left += f" {plural(drawn.more_edges, weak)} not drawn."
    region = (
        " Small dots with a rim are the region of the latest model."
        if facts.belief is not None
        else ""
    )
    return (
        f"{what}. Large dots were measured; the ringed one is the best.{region}{left} Expected value, uncertainty and "
        "promise are what the model said when it chose a node; for other nodes, what the latest model says."
    )


def _kernel(facts: RunFacts) -> str:
    kernel = facts.kernel
    if kernel is None:
        return "No kernel: there is no model of the values yet, or the strategy has none."
    size = plural(len(kernel.weights), "node")
    if facts.belief is not None and facts.belief.subgraph.connectors:
        inside = facts.belief.subgraph
        size = f"{plural(len(inside), 'node')} and {plural(len(inside.connectors), 'connector')}"
    modes, used = len(kernel.weights) - kernel.zeros, kernel.effective_modes
    found = f" ({kernel.parameters})" if kernel.parameters else ""
    smooth = "are expected to be alike" if used < modes / 3 else "may differ a lot"
    return (
        f"How much each pattern on the latest region ({size}) may contribute to the "
        f"values, from smooth (left) to rough (right). The {kernel.name} kernel{found} works with about "
        f"{used:.0f} of {modes} patterns: neighbours {smooth}."
    )


def _region(facts: RunFacts) -> str:
    if not facts.region:
        if not facts.history:
            return "There is no region yet."
        return f"The strategy {facts.settings.strategy_name} has no region."
    moves = facts.region[-1].restart
    moved = f"It was moved {plural(moves, 'time')}" if moves else "It never had to move"
    if facts.region[-1].size is not None:
        return (
            f"The nodes of the trust region: it grows with success, shrinks with failure and begins afresh when it "
            f"is too small. {moved.replace('moved', 'begun afresh')}."
        )
    options = facts.options
    egos = plural(int(str(options["egos"] or 0)), "ego-network")
    return (
        f"The model looks at {egos} of up to {options['size']} nodes. The line counts the measured nodes in them, the "
        f"bars the evaluations in a row that were no better; after {options['patience']} the region moves. {moved}."
    )


def _calibration(facts: RunFacts) -> str:
    found = facts.calibration
    if not found.predictions:
        return "No prediction to judge: nothing that the model chose has been measured yet."
    if not found.coverages:
        count = plural(len(found.predictions), "node")
        return (
            f"The model has chosen {count} so far. What it expected is set against what came from {ENOUGH} on: fewer "
            "say nothing about it."
        )
    last = found.coverages[-1]
    judged = ""
    spread = math.sqrt(last.level * (1 - last.level) / last.count)
    if last.count >= 20 and last.share < last.level - 3 * spread:
        judged = " The model was too sure of itself."
    elif last.count >= 60 and last.share == 1 and found.coverages[0].share > 0.75:
        judged = " The model was more careful than it had to be."
    return (
        f"What the model expected of the {plural(last.count, 'node')} that it chose, against what came; bars are 95 % "
        f"intervals. {last.inside} of {last.count} ({100 * last.share:.0f} %) fell inside theirs.{judged}"
    )


def _time(facts: RunFacts) -> str:
    known = sorted(one for one in facts.seconds if one is not None)
    if not known:
        return "No times are known."
    median = known[len(known) // 2]
    return (
        f"From one result to the next, the objective's own time included: {duration(median)} in the middle, "
        f"{duration(known[-1])} at most, {duration(sum(known))} in all."
    )


def configuration(facts: RunFacts) -> list[tuple[str, str]]:
    """What the run was started with."""
    settings = facts.settings
    rows: list[tuple[str, object]] = [
        ("goal", "maximize" if settings.maximize else "minimize"),
        ("objective", settings.objective or "values that were told"),
        ("graph", facts.view),
        ("database", facts.address or None),
        ("strategy", settings.strategy_name),
        *((name, value) for name, value in facts.options.items() if name != "noise"),
        ("noise", settings.noise),
        ("seed", settings.seed),
        ("budget", settings.budget),
        ("cost", settings.cost),
        ("budget of cost", settings.budget_cost),
        ("caption", facts.caption),
        ("start", ", ".join(_key(one) for one in settings.start) or None),
        ("reveal", settings.reveal),
        ("written as", f"{settings.prefix}Value, …" if settings.prefix else None),
        ("begun", facts.started_at[:19].replace("T", " ") or None),
    ]
    return [(name, shortened(value, 300)) for name, value in rows if value is not None]


def _key(key: NodeKey) -> str:
    return shortened(key)
