"""What commands print, kept to one line."""

__all__ = ["as_line"]

#: Names and values in a message may be of any length.
LONGEST_LINE = 800


def as_line(text: str) -> str:
    """A message as one line: what it quotes may hold control characters, or a book."""
    if len(text) > LONGEST_LINE:
        half = LONGEST_LINE // 2
        text = f"{text[:half]} … {text[-half:]}"
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
