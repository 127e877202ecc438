"""HTML as values: whatever is put into an element is text, unless it was made here."""

from collections.abc import Iterable
from html import escape

__all__ = ["Html", "el", "joined"]

#: Elements without an end.
_VOID = {"input", "br", "img", "meta", "link"}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def el(tag: str, /, *children: object, **attributes: object) -> Html:
    """An element.

    Args:
        tag: its name.
        children: what it holds: elements, text, numbers, or lists of these; nothing for None and False.
        attributes: without those that are None or False, with no value for True. ``_`` stands for ``-``, and one at the
            end of a name, as in ``class_``, for nothing.
    """
    given = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{given}>")
    return Html(f"<{tag}{given}>{joined(children)}</{tag}>")


def joined(parts: Iterable[object]) -> Html:
    """Elements and texts one after the other."""
    return Html("".join(map(_text, parts)))


def _text(child: object) -> str:
    if isinstance(child, Html):
        return child
    if child is None or child is False:
        return ""
    if isinstance(child, list | tuple):
        return joined(child)
    return escape(str(child))


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    spelt = name.rstrip("_").replace("_", "-")
    return f" {spelt}" if value is True else f' {spelt}="{escape(str(value))}"'
