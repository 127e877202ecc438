"""What identifies an objective and must not be stored: kept so that it can be compared and not read."""

import hashlib
import secrets
from dataclasses import dataclass, field

__all__ = ["Fingerprint"]

#: About ten milliseconds and four megabytes for each guess: nothing for one run, much for a list of words.
COST, BLOCK, PARALLEL = 2**12, 8, 1

SALT_BYTES = 16


@dataclass(frozen=True)
class Fingerprint:
    """A salted hash of a text.

    Attributes:
        text: the salt and the hash, as they are stored.
        secret: the text itself, in the process that was given it.
    """

    text: str
    secret: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, secret: str) -> "Fingerprint":
        """That of a text, with a new salt."""
        salt = secrets.token_bytes(SALT_BYTES)
        return cls(f"{salt.hex()}:{_hash(secret, salt)}", secret)

    def matches(self, stored: "Fingerprint") -> bool:
        """Whether the other one is of the same text."""
        if self.secret is None:
            return self.text == stored.text
        salt, _, expected = stored.text.partition(":")
        try:
            found = _hash(self.secret, bytes.fromhex(salt))
        except ValueError:  # somebody has changed what is stored
            return False
        return found == expected


def _hash(secret: str, salt: bytes) -> str:
    text = secret.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=salt, n=COST, r=BLOCK, p=PARALLEL).hex()
