"""The objective of ``graphbo run``: which one is meant, and whether this person agreed to run it here.

Whoever may write to a database can write an objective into it, and an objective may be a program. What a person names
with ``--objective`` is run and remembered. What only the database names is run if it was remembered on this machine, if
the person says yes to the whole of it, or with ``--trust``.
"""

import sys
from dataclasses import dataclass

import click

from graphbo.cli.advice import advised
from graphbo.cli.as_printed import printable, shown
from graphbo.cli.options import Place
from graphbo.errors import GraphboError, RunError
from graphbo.objectives import Objective, Spec, read_spec
from graphbo.objectives.pins import is_pinned, pin
from graphbo.runs import Fingerprint, RunSettings
from graphbo.runs.records import RunRecord
from graphbo.stores.address import HIDDEN

__all__ = ["Wanted", "wanted_objective"]

#: What a pin is for.
_KIND = "objective"


@dataclass(frozen=True)
class Wanted:
    """An objective that was not opened yet: nothing was imported, looked for or asked.

    Attributes:
        name: what the database has, or will have.
        given: what the person named; None if that was left to the database.
        fingerprint: of what is not in the name.
    """

    name: str
    given: Spec | None
    fingerprint: Fingerprint | None

    @property
    def template(self) -> str:
        """What to give to have it again, with … in place of what must not be printed."""
        return self.given.template if self.given else self.name

    @property
    def to_fill_in(self) -> str:
        """What a person has to add to that; empty if nothing is missing."""
        if self.given is None or self.given.hidden is None:
            return ""
        return f"Put what stands for {HIDDEN} back into --objective: it is never printed or stored."

    def open(
        self, place: Place, run: str, *, trust: bool, timeout: float | None, retries: int
    ) -> Objective:
        """The objective, if it may be run here.

        Raises:
            RunError: the database names it, and nobody here agreed to that, or it is not all of it.
            InvalidObjective: it names something that is not there.
        """
        spec = self.given or self._stored(place, run, trust=trust)
        return spec.open(timeout=timeout, retries=retries)

    def _stored(self, place: Place, run: str, *, trust: bool) -> Spec:
        if self.fingerprint is not None:
            raise RunError(
                f"the run {run!r} measures {printable(self.name)}, but its query, user name and password are never "
                "stored: add --objective with the whole address"
            )
        spec = read_spec(self.name)
        if not (spec.kind.harmless or trust or is_pinned(place.address.place, _KIND, spec.name)):
            _ask(run, spec)
            self._pin(place, spec)
        return spec

    def remember(self, place: Place) -> None:
        """Keep in mind that the person named it: the run goes on without naming it again."""
        spec = self.given
        if spec is None or spec.kind.harmless or is_pinned(place.address.place, _KIND, spec.name):
            return
        self._pin(place, spec)

    def _pin(self, place: Place, spec: Spec) -> None:
        try:
            pin(place.address.place, _KIND, spec.name)
        except GraphboError as error:
            click.echo(f"This objective will have to be named again: {advised(error)}", err=True)


def wanted_objective(given: str | None, record: RunRecord | None) -> Wanted:
    """What is to be measured, by the command line, else by the run.

    Raises:
        InvalidObjective: it is of no known kind, or not of the form of its kind.
        RunError: there is none.
    """
    if given is not None:
        spec = read_spec(given)
        return Wanted(spec.name, spec, Fingerprint.of(spec.hidden) if spec.hidden else None)
    settings = RunSettings.of(record) if record else RunSettings()
    if settings.objective is None:
        raise RunError(
            "there is no objective: add --objective SPEC"
            + (f"; the run {record.name!r} was asked and told by hand" if record else "")
        )
    return Wanted(settings.objective, None, settings.fingerprint)


def _ask(run: str, spec: Spec) -> None:
    """Show all of it, and let a person decide; nobody else can."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RunError(
            f"the run {run!r} in the database would run {shown(spec.name)} on this machine, which nobody here has "
            "agreed to: see all of it with `graphbo status`, and name it with --objective, or add --trust"
        )
    click.echo(f"The run {shown(run)!r} in the database wants to run on this machine:", err=True)
    click.echo(f"  {printable(spec.name)}", err=True)
    if not click.confirm("Run it, now and whenever this database asks for it?", err=True):
        raise RunError("nothing was run")
