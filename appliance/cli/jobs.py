"""List jobs, show one and its history, cancel one, or give a dead one its failures back."""

from __future__ import annotations

import dataclasses
import getpass
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from typing import Any, Final

from appliance.cli import access, render, values
from appliance.cli.access import Access
from appliance.clock import LedgerInstant
from appliance.coordination import decisions, history
from appliance.coordination.decisions import Person
from appliance.coordination.states import State
from appliance.coordination.work import JobId

ERROR_CHARS: Final = 60


def configure(parser: ArgumentParser) -> None:
    """One subcommand for each question and each decision."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser("list", help="the newest jobs")
    listing.add_argument("--state", dest="only", choices=[state.value for state in State if state is not State.WAITING])
    listing.add_argument("--most", type=values.whole, default=50, metavar="N", help="at most so many (default 50)")
    listing.add_argument("--json", action="store_true", help="one JSON line a job")
    for verb, text in (("show", "all about one job"), ("history", "every move of one job and its parts")):
        one = verbs.add_parser(verb, help=text)
        one.add_argument("id", type=values.whole, metavar="ID")
        one.add_argument("--json", action="store_true", help="as JSON")
    for verb, text in (("cancel", "cancel a job, or ask those who work on it"), ("retry", "give a dead job its failures back")):
        one = verbs.add_parser(verb, help=text)
        one.add_argument("id", type=values.whole, metavar="ID")
        one.add_argument("--why", default="from the command line", metavar="TEXT", help="for the history")


def main(arguments: Namespace) -> int:
    """Do what the verb says."""
    with access.opened(arguments) as found:
        match arguments.verb:
            case "list":
                _list(found, arguments)
            case "show":
                _show(found, arguments)
            case "history":
                _history(found, arguments)
            case "cancel":
                _cancel(found, arguments)
            case _:
                _retry(found, arguments)
    return 0


def _person(arguments: Namespace) -> Person:
    return Person(who=getpass.getuser(), why=arguments.why)


def _cancel(found: Access, arguments: Namespace) -> None:
    with found.write() as tx:
        became = decisions.cancel(tx, JobId(arguments.id), _person(arguments))
    print(f"job {arguments.id} {became}" + (": it is at work, and ends soon" if became == "asked" else ""))


def _retry(found: Access, arguments: Namespace) -> None:
    with found.write() as tx:
        decisions.revive(tx, JobId(arguments.id), _person(arguments))
    print(f"job {arguments.id} ready")


def _list(found: Access, arguments: Namespace) -> None:
    only = State(arguments.only) if arguments.only else None
    jobs = history.newest(found.ledger, most=max(1, arguments.most), only=only)
    if arguments.json:
        for each in jobs:
            render.json_line(_plain(found, each))
        return
    rows = [
        (each.id, each.kind, each.state, each.attempt, each.failures, when(found, each.submitted), _short(each.error_text))
        for each in jobs
    ]
    render.table(("id", "kind", "state", "attempt", "failures", "submitted", "error"), rows)


def _show(found: Access, arguments: Namespace) -> None:
    shown = history.show(found.ledger, arguments.id)
    plain = _plain(found, shown) | {"files": [dataclasses.asdict(place) for place in history.files(found.ledger, arguments.id)]}
    if arguments.json:
        render.json_line(plain)
    else:
        render.facts(list(plain.items()))


def _history(found: Access, arguments: Namespace) -> None:
    after = 0
    while events := history.events(found.ledger, arguments.id, after=after):
        after = events[-1].seq
        if arguments.json:
            for each in events:
                render.json_line(_plain(found, each))
            continue
        rows = [
            (
                *(each.seq, when(found, each.at), each.noun, each.ordinal, each.move, f"{each.was or '-'} → {each.became or '-'}"),
                *(each.attempt, each.actor, _short(each.cause)),
            )
            for each in events
        ]
        render.table(("seq", "at", "of", "part", "move", "from → to", "attempt", "actor", "cause"), rows)
    if not after:
        history.state(found.ledger, arguments.id)  # says that there is no such job


def when(found: Access, at: LedgerInstant) -> str:
    """An instant of the ledger as a date for people, in UTC (RFC 3339)."""
    moment = datetime.fromtimestamp(history.wall(found.ledger, at).ms / 1_000, UTC)
    return moment.isoformat(sep=" ", timespec="milliseconds").replace("+00:00", "Z")


def _plain(found: Access, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of history
    return {
        each.name: when(found, member) if isinstance(member := getattr(value, each.name), LedgerInstant) else member
        for each in dataclasses.fields(value)
    }


def _short(text: str | None) -> str:
    line = (text or "").strip().splitlines()[-1:] or [""]
    return line[0] if len(line[0]) <= ERROR_CHARS else line[0][: ERROR_CHARS - 1] + "…"
