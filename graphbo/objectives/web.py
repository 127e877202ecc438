"""``http://…`` and ``https://…``: a service that answers with the value of a node."""

import base64
import errno
import http.client
import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import IO, Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from graphbo import __version__
from graphbo.errors import EvaluationFailed, InvalidObjective, Remedy
from graphbo.objectives.base import Evaluator, Node, Permanent, Unavailable
from graphbo.objectives.number import as_number, shorten
from graphbo.objectives.payload import to_json
from graphbo.objectives.thread import NoAnswer, call_in_thread
from graphbo.stores.address import HIDDEN, public_uri, secrets_of, without_secrets

__all__ = ["WebEvaluator", "open_web"]

#: Longest answer that is read: a number needs a few bytes.
LONGEST_ANSWER = 1_000_000
#: Seconds for a service to take a connection, before the first evaluation.
CONNECT_SECONDS = 10.0
#: Longest pause in seconds that a service may ask for when there is no time-out.
LONGEST_PAUSE = 300.0

#: Answers that mean "later", beside all from 500 on.
LATER = {408, 425, 429}
#: Answers of somebody who did not even begin.
TURNED_AWAY = {429, 503}
#: What a system says when there was nobody to send a question to.
NOT_CONNECTED = {
    errno.ECONNREFUSED,
    errno.EHOSTUNREACH,
    errno.EHOSTDOWN,
    errno.ENETUNREACH,
    errno.ENETDOWN,
}


@dataclass(frozen=True)
class WebEvaluator(Evaluator):
    """Posts the node as JSON; the answer is a JSON number, or an object with a number as its ``value``.

    Attributes:
        name: the address without what must not be printed.
        url: where to post to, without user name and password.
        authorization: the header made of these.
        secrets: what is taken out of anything the service says before it is printed.
        hidden: the user name and the query, which tell one function of a service from another. None if the address has
            nothing to hide. The password is no part of it: that may be changed while a run goes on.
        template: the address with … in place of what must not be printed.
    """

    name: str
    url: str = field(repr=False)
    authorization: str | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    hidden: str | None = field(default=None, repr=False)
    template: str = ""

    def measure(self, node: Node, timeout: float | None) -> float:
        """The number that the service answers with.

        Raises:
            Unavailable: nobody answers (in time), or the service is busy or broken.
            Permanent: it does not understand the question.
            EvaluationFailed: it answers with something else.
        """
        request = self._request(node)
        if timeout is None:
            return self._ask(request, None)
        # A socket's time-out starts again with every byte, and looking up a name has none.
        try:
            return call_in_thread(lambda: self._ask(request, timeout), timeout)
        except NoAnswer:
            raise Unavailable(f"{self.name} gave no answer within {timeout:g} s") from None

    def check(self) -> None:
        """Find out whether anybody listens at the address; behind a proxy, only an evaluation could tell.

        Raises:
            InvalidObjective: nobody does.
        """
        parts = urlsplit(self.url)
        proxy = urllib.request.getproxies().get(parts.scheme)
        if proxy and not urllib.request.proxy_bypass(parts.netloc):
            return
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            socket.create_connection((parts.hostname, port), CONNECT_SECONDS).close()
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InvalidObjective(
                f"nobody listens at {self.name} ({shorten(reason)}): start the service, or mend the address"
            ) from None

    def _request(self, node: Node) -> urllib.request.Request:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"graphbo/{__version__}",
        }
        if self.authorization:
            headers["Authorization"] = self.authorization
        return urllib.request.Request(  # noqa: S310 - open_web lets http and https through only
            self.url, data=to_json(node), headers=headers, method="POST"
        )

    def _ask(self, request: urllib.request.Request, timeout: float | None) -> float:
        try:
            with OPENER.open(request, timeout=timeout) as answer:
                body = answer.read(LONGEST_ANSWER)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error, timeout) from None
        except urllib.error.URLError as error:
            raise self._unreachable(error.reason) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from None
        return self._read(body)

    def _refused(self, error: urllib.error.HTTPError, timeout: float | None) -> EvaluationFailed:
        status = f"{self.name} answers {error.code} {self._clean(str(error.reason))}".rstrip()
        if 300 <= error.code < 400:
            target = urljoin(self.url, error.headers.get("Location", ""))
            return Permanent(
                f"{status}: redirections are not followed, give the final address "
                f"({self._clean(public_uri(target))})"
            )
        said = self._said(error)
        message = f"{status}: {said}" if said else status
        if error.code < 500 and error.code not in LATER:
            return Permanent(message)
        pause = _retry_after(error.headers.get("Retry-After"))
        if pause is not None and pause > (timeout or LONGEST_PAUSE):
            return Permanent(f"{message} (it asks to wait for {pause:g} s, which is too long)")
        return Unavailable(message, pause, unpaid=error.code in TURNED_AWAY)

    def _said(self, error: urllib.error.HTTPError) -> str:
        try:
            return self._shortened(error.read(LONGEST_ANSWER), 200)
        except (OSError, http.client.HTTPException):
            return ""

    def _unreachable(self, reason: object) -> Unavailable | Permanent:
        text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        message = f"{self.name} cannot be reached: {shorten(self._clean(str(text)))}"
        if isinstance(reason, ssl.SSLCertVerificationError):
            return Permanent(message)
        unsent = isinstance(reason, socket.gaierror) or getattr(reason, "errno", 0) in NOT_CONNECTED
        return Unavailable(message, unpaid=unsent)

    def _read(self, body: bytes) -> float:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            text = self._shortened(body, 80)
            raise EvaluationFailed(f"{self.name} answers {text!r}: expected JSON") from None
        if isinstance(answer, dict):
            if "value" not in answer:
                raise EvaluationFailed(f'{self.name} answers an object without a "value"')
            answer = answer["value"]
        try:
            return as_number(answer)
        except EvaluationFailed:
            raise EvaluationFailed(f"{self.name}: {self._complaint(answer)}") from None

    def _complaint(self, answer: object) -> str:
        """Why an answer is no number, without quoting a secret in it."""
        try:
            as_number(self._cleaned(answer))
        except EvaluationFailed as error:
            return self._clean(str(error))
        return "expected a number"

    def _clean(self, text: str) -> str:
        return without_secrets(text, self.secrets)

    def _shortened(self, text: bytes, longest: int) -> str:
        """The beginning of what a service says. What was cut in two would not be recognised as a secret any more."""
        return shorten(self._clean(text.decode(errors="replace")), longest)

    def _cleaned(self, answer: object) -> object:
        """An answer before a piece of it is quoted."""
        if isinstance(answer, str):
            return self._clean(answer)
        if isinstance(answer, list):
            return [self._cleaned(one) for one in answer]
        if isinstance(answer, dict):
            return {self._clean(name): self._cleaned(value) for name, value in answer.items()}
        return answer


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a redirected POST becomes a GET without the node, and may take the password to another host."""

    def redirect_request(
        self,
        req: urllib.request.Request,  # noqa: ARG002 - names and all given by the standard library
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: Any,  # noqa: ARG002
        newurl: str,  # noqa: ARG002
    ) -> None:
        """None: the redirection is an error like any other."""
        return


OPENER = urllib.request.build_opener(NoRedirect)


def open_web(url: str) -> WebEvaluator:
    """The evaluator for an address.

    Raises:
        InvalidObjective: it is not one that can be posted to.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidObjective(_expected()) from None
    if parts.scheme not in ("http", "https") or not host or _unprintable(url):
        raise InvalidObjective(_expected())
    if HIDDEN in f"{parts.netloc}{parts.query}":
        raise InvalidObjective(
            f"the objective's address {public_uri(url)} is incomplete: its query, user name and password are never "
            "stored or printed",
            Remedy.GIVE_WHOLE_ADDRESS,
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    named, userinfo = public_uri(url), "@" in parts.netloc
    token = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
    return WebEvaluator(
        name=named,
        url=parts._replace(netloc=_netloc(parts), fragment="").geturl(),
        authorization=f"Basic {token}" if user or password else None,
        secrets=(*((token,) if userinfo else ()), *secrets_of(url)),
        hidden=json.dumps([user, parts.query]) if userinfo or parts.query else None,
        template=named.replace("//", f"//{HIDDEN}@", 1) if userinfo else named,
    )


def _netloc(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _unprintable(url: str) -> bool:
    return any(not character.isprintable() or character.isspace() for character in url)


def _expected() -> str:
    # The address is not repeated: what cannot be parsed cannot be freed of a password either.
    return "the objective's address cannot be used: expected http://HOST[:PORT]/PATH or https://…"


def _retry_after(header: str | None) -> float | None:
    """Seconds that a service asks to be left alone: it gives their number, or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header) if header.strip().isdigit() else _seconds_until(header))
    except (ValueError, OverflowError):
        return None


def _seconds_until(date: str) -> float:
    return parsedate_to_datetime(date).timestamp() - time.time()
