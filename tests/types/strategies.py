"""Conditions and paths of any kind, as the notation can write them."""

from hypothesis import strategies as st

from graphbo.types.conditions import (
    WORDS,
    And,
    Comparison,
    Condition,
    HasLabel,
    IsIn,
    IsNull,
    Not,
    Or,
)
from graphbo.types.paths import Path, Step

_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\\")
#: Words of the notation are names, too, in backticks.
NAMES = st.one_of(
    st.sampled_from(["a", "Äpfel_2", "it's", "a b", "x`y", '"', "-", "🚉", *sorted(WORDS)]),
    st.text(_CHARACTERS, min_size=1, max_size=6),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
VALUES = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e307, max_value=1e307),
)
LABELS = st.builds(HasLabel, NAMES)
ATOMS = st.one_of(
    LABELS,
    st.builds(Comparison, NAMES, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), VALUES),
    st.builds(Comparison, NAMES, st.just("STARTS WITH"), TEXTS),
    st.builds(IsIn, NAMES, st.lists(VALUES, max_size=3).map(tuple)),
    st.builds(IsNull, NAMES),
)


def _combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        # Reading leaves out what two NOTs say.
        inner.filter(lambda part: not isinstance(part, Not)).map(Not),
        st.builds(And, several),
        st.builds(Or, several),
    )


CONDITIONS = st.recursive(ATOMS, _combined, max_leaves=8)
LABEL_CONDITIONS = st.recursive(LABELS, _combined, max_leaves=5)
PROPERTY_ATOMS = ATOMS.filter(lambda atom: not isinstance(atom, HasLabel))
PROPERTY_CONDITIONS = st.recursive(PROPERTY_ATOMS, _combined, max_leaves=4)

STEPS = st.builds(
    Step,
    st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple),
    st.sampled_from(["both", "out", "in"]),
    st.none() | PROPERTY_CONDITIONS,
)
ENDS = st.one_of(
    LABELS,
    st.builds(lambda label, where: And((label, where)), LABELS, PROPERTY_ATOMS),
)
INNER = st.one_of(st.none(), LABELS, PROPERTY_ATOMS, ENDS)


@st.composite
def paths(draw: st.DrawFn) -> Path:
    """A path of up to four relationships."""
    steps = draw(st.lists(STEPS, min_size=1, max_size=4))
    inner = [draw(INNER) for _ in steps[1:]]
    return Path((draw(ENDS), *inner, draw(ENDS)), tuple(steps))
