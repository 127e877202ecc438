"""Names in Cypher statements: always quoted."""

from graphbo.types import check_name

__all__ = ["any_of", "quote"]


def quote(name: str, what: str = "name") -> str:
    """``name`` as an identifier in a Cypher statement: the one way in which a name gets into one.

    Raises:
        InvalidName: it is empty, too long, or holds a NUL or a backslash.
    """
    return "`" + check_name(name, what).replace("`", "``") + "`"


def any_of(names: tuple[str, ...]) -> str:
    """Any of these labels or types."""
    return "|".join(quote(name) for name in names)
