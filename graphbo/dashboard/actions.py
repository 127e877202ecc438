"""What people may do on the page: each is the transaction that the command line and Python use, too."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from graphbo.errors import EvaluationFailed, GraphboError, Remedy, RunError
from graphbo.objectives.number import as_number, decimal_hint
from graphbo.runs import Run
from graphbo.runs.registry import runs_in
from graphbo.stores import GraphStore
from graphbo.types import LARGEST_INTEGER, NodeKey
from graphbo.types.text import number, plural

__all__ = ["ACTIONS", "act", "budget_of", "in_words", "key_of", "person_of"]

#: More nodes at once nobody measures.
MOST_AT_ONCE = 50
LONGEST_TEXT, LONGEST_PERSON, LONGEST_TOKEN = 2_000, 60, 64

Form = Mapping[str, Any]
Action = Callable[[Run, Form], str]


def act(store: GraphStore, form: Form) -> str:
    """Do what a form says, as the person that it names; what has happened, in a sentence.

    Raises:
        GraphboError: it cannot be done; then nothing is changed.
    """
    action = ACTIONS.get(str(form.get("action")))
    if action is None:
        raise RunError("this cannot be done here")
    run = Run.open(store, text_of(form, "run"), worker=person_of(form))
    return action(run, form)


def in_words(error: GraphboError) -> str:
    """The line that a person reads of an error on the page."""
    if error.remedy is None or error.remedy not in _ADVICE:
        return str(error)
    return error.problem + _ADVICE[error.remedy]


#: What to do, where the page has words of its own.
_ADVICE = {
    Remedy.AMEND: ": look at the node to replace it",
    Remedy.ASK_FIRST: ": choose it on the map to measure it, or to tell a value that is known",
    Remedy.RETRY: ": give it back first",
    Remedy.INCLUDE_FIRST: ": let it be proposed again first",
    Remedy.GIVE_HOP: ": go on with it in a terminal, where the statement can be read",
}


# What is in a form


def text_of(form: Form, name: str, longest: int = LONGEST_TEXT) -> str:
    """A text.

    Raises:
        RunError: it is none, or too long.
    """
    value = form.get(name, "")
    if not isinstance(value, str) or len(value) > longest:
        raise RunError(f"the {name} is no text of at most {longest:,} characters")
    return value.strip()


def person_of(form: Form) -> str:
    """Who does it, by the name that they gave. It is kept in the database, where everybody sees it.

    Raises:
        RunError: it cannot be printed.
    """
    name = text_of(form, "person", LONGEST_PERSON)
    if not name.isprintable():
        raise RunError("your name has characters in it that cannot be printed")
    # What stands behind a colon tells the processes of one machine apart.
    return name.replace(":", " ").strip() or "somebody"


def value_of(form: Form) -> float:
    """The value that was typed.

    Raises:
        RunError: it is no number.
    """
    text = text_of(form, "value")
    if not text:
        raise RunError("there is no value: type a number, like 0.25")
    try:
        return as_number(text)
    except EvaluationFailed as error:
        raise RunError(f"{error}{decimal_hint(text)}") from None


def whole_number(form: Form, name: str, most: int = LARGEST_INTEGER) -> int:
    """A number of nodes, or of a step.

    Raises:
        RunError: it is no whole number.
    """
    text = str(form.get(name, ""))
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20) or abs(int(text)) > most:
        raise RunError(f"the {name} is {text[:40]!a}: expected a whole number up to {most:,}")
    return int(text)


def budget_of(form: Form) -> int:
    """How many evaluations a run may use.

    Raises:
        RunError: that is no number, or none.
    """
    budget = whole_number(form, "budget")
    if budget < 1:
        raise RunError("a budget is at least one evaluation")
    return budget


def key_of(text: str) -> NodeKey:
    """A key as a page hands it back.

    Raises:
        RunError: it is none.
    """
    try:
        key = json.loads(text)
    except ValueError:
        key = None
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise RunError("there is no such node")
    return key


def _key(form: Form) -> NodeKey:
    return key_of(str(form.get("key", "")))


# Actions


def _ask(run: Run, form: Form) -> str:
    count = whole_number(form, "count", MOST_AT_ONCE)
    if count < 1:
        raise RunError("ask for at least one node")
    token = text_of(form, "token", LONGEST_TOKEN) or None
    asked = run.ask_many(count, token=token)
    _explain(run, [one.step for one in asked.pending])
    return _taken([one.key for one in asked.pending], _WHY_NOT.get(asked.why_not, ""))


_WHY_NOT = {
    "budget": "the budget is used up: raise it to go on",
    "unaffordable": "what is left to spend pays for no node that was looked at",
    "exhausted": "every node that the run may look at has been measured",
    "waiting": "every node that is left is being measured",
    "ended": "the run was stopped: let it go on first",
}


def _taken(keys: list[NodeKey], why_not: str = "") -> str:
    if not keys:
        raise RunError(f"there is no node to measure: {why_not}")
    names = ", ".join(map(str, keys[:3])) + (", …" if len(keys) > 3 else "")
    more = f"; {why_not}" if why_not else ""
    return f"You took {plural(len(keys), 'node')}: {names}{more}"


def _tell(run: Run, form: Form) -> str:
    told = run.tell(value_of(form), step=whole_number(form, "step"), note=_note(form))
    return _said(run, told.observation.key, told.observation.value, told.outcome)


def _said(run: Run, key: NodeKey, value: float | None, outcome: str) -> str:
    if outcome == "repeated":
        return f"{key} was told before: nothing changed"
    best = run.best()
    star = ", the best so far" if best is not None and best.key == key else ""
    return f"{key} = {number(value)}{star}"


def _note(form: Form) -> str | None:
    return text_of(form, "note") or None


def _fail(run: Run, form: Form) -> str:
    step = whole_number(form, "step")
    told = run.tell(None, step=step, error=_note(form) or "could not be measured")
    return f"{told.observation.key} could not be measured: {told.observation.error}"


def _release(run: Run, form: Form) -> str:
    released = run.release(step=whole_number(form, "step"))
    return f"{released.key} is given back"


def _amend(run: Run, form: Form) -> str:
    told = run.tell(value_of(form), step=whole_number(form, "step"), amend=True, note=_note(form))
    return _said(run, told.observation.key, told.observation.value, told.outcome)


def _retry(run: Run, form: Form) -> str:
    given_back = run.retry([_key(form)])
    return f"{given_back[0].key} may be asked for again"


def _known(run: Run, form: Form) -> str:
    key, value = _key(form), value_of(form)
    if not run.tell_known({key: value}):
        raise RunError(f"the run knows {key} already: look at the node to change it")
    return f"{key} = {number(value)} is known now"


def _measure(run: Run, form: Form) -> str:
    taken = run.ask_for(_key(form), token=text_of(form, "token", LONGEST_TOKEN) or None)
    _explain(run, [taken.step])
    return _taken([taken.key])


def _explain(run: Run, steps: list[int]) -> None:
    """Write on nodes why. They are taken, whether that can be said or not."""
    with suppress(GraphboError):
        run.explain(steps)


def _exclude(run: Run, form: Form) -> str:
    key = _key(form)
    # On a card there is one field for what there is to say.
    reason = text_of(form, "reason") or text_of(form, "note") or None
    done = run.exclude([key], reason=reason)
    if not done.keys:
        return f"{key} was left alone already"
    awaited = ": what a program evaluates now is still recorded" if done.awaited else ""
    return f"{key} is left alone from now on{awaited}"


def _include(run: Run, form: Form) -> str:
    (key,) = run.include([_key(form)])
    return f"{key} may be proposed again"


def _retract(run: Run, form: Form) -> str:
    reason = text_of(form, "reason") or None
    gone = run.retract(step=whole_number(form, "step"), reason=reason)
    return f"The value of {gone.key} is taken back: it counts no more"


def _keep_note(run: Run, form: Form) -> str:
    run.note(_note(form), step=whole_number(form, "step"))
    return "The note is kept"


def _collect(run: Run, form: Form) -> str:
    del form
    collected = run.collect()
    refused = f", {plural(len(collected.refused), 'answer')} refused" if collected.refused else ""
    return f"{plural(len(collected.told), 'answer')} collected{refused}"


def _stop(run: Run, form: Form) -> str:
    del form
    if run.record.state != "running":
        return f"The run was {run.record.state} already"
    runs_in(run.store).change(run.name, state="stopped")
    return "The run is stopped: what is being measured may still be told"


def _go_on(run: Run, form: Form) -> str:
    del form
    record = run.record
    if record.state == "running":
        return "The run is in progress already"
    if record.left <= 0 and not record.pending:
        raise RunError("the budget is used up: raise it to go on")
    runs_in(run.store).change(run.name, state="running")
    return "The run goes on"


def _budget(run: Run, form: Form) -> str:
    budget, record = budget_of(form), run.record
    changes: dict[str, object] = {"budget": budget}
    # A run that had used its budget up has something to do again.
    if record.state == "finished" and budget > record.evaluations + record.pending:
        changes["state"] = "running"
    runs_in(run.store).change(run.name, **changes)
    return f"The budget is {plural(budget, 'evaluation')} now"


def _budget_cost(run: Run, form: Form) -> str:
    record, text = run.record, text_of(form, "budget_cost")
    if "cost" not in record.config:
        raise RunError("nothing says what a measurement of this run costs")
    try:
        amount = as_number(text)
    except EvaluationFailed as error:
        raise RunError(f"{error}{decimal_hint(text)}") from None
    if amount <= 0:
        raise RunError(f"a budget of cost is above 0, and not {number(amount)}")
    changes: dict[str, object] = {"budgetCost": amount}
    if record.state == "finished" and replace(record, budget_cost=amount).left > 0:
        changes["state"] = "running"
    runs_in(run.store).change(run.name, **changes)
    return f"{number(amount)} may be spent now"


ACTIONS: Mapping[str, Action] = {
    "ask": _ask,
    "tell": _tell,
    "fail": _fail,
    "release": _release,
    "amend": _amend,
    "retry": _retry,
    "known": _known,
    "measure": _measure,
    "exclude": _exclude,
    "include": _include,
    "retract": _retract,
    "note": _keep_note,
    "collect": _collect,
    "stop": _stop,
    "go-on": _go_on,
    "budget": _budget,
    "budget-cost": _budget_cost,
}
