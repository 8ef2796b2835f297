"""Hand in work.  Asking twice is asking once: the same kind and work id give the same job."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from appliance import wiring
from appliance.cli import access, render, values, waiting
from appliance.cli.access import Access
from appliance.coordination import queue
from appliance.coordination.work import Submission, Submitted
from appliance.errors import InputFileError, PayloadError, UsageError

BATCH: Final = 1_000  # submissions in one commit


def configure(parser: ArgumentParser) -> None:
    """What is to be done, and how."""
    parser.add_argument("kind", metavar="KIND", help="the kind of job")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--payload", metavar="JSON", help="what the job is about (default: null)")
    source.add_argument("--from", dest="source", metavar="FILE.jsonl", help="one payload a line; - reads standard input")
    parser.add_argument("--work-id", metavar="TEXT", help="names the work within its kind (default: the payload's digest)")
    parser.add_argument("--again", action="store_true", help="do work again that was done before, as a further round")
    parser.add_argument("--priority", type=values.whole, default=0, metavar="N", help="from -100 to 100 (default 0)")
    parser.add_argument("--after", type=values.seconds, default=0.0, metavar="SECONDS", help="not before so many seconds from now")
    parser.add_argument("--wait", action="store_true", help="wait for the end of the jobs")
    parser.add_argument("--json", action="store_true", help="one JSON line a job")


def main(arguments: Namespace) -> int:
    """Submit, in batches of one commit each; tell each answer after its commit."""
    if arguments.source and arguments.work_id:
        message = "--work-id names one job, --from hands in many"
        raise UsageError(message)
    with access.opened(arguments) as found:
        ids = [answer.id for answer in _submit(found, arguments)]
        if not wiring.running(found.paths.state):
            render.note("no appliance runs on this state directory: the work waits until one does")
        return waiting.wait(found, ids, as_json=arguments.json) if arguments.wait else 0


def _submit(found: Access, arguments: Namespace) -> Iterator[Submitted]:
    asked = (_bound(arguments, payload, where) for payload, where in _payloads(arguments))
    taken = 0
    while batch := _batch(asked, taken):
        with found.write() as tx:
            answers = queue.submit_bound(tx, batch)
        taken += len(answers)
        for answer in answers:
            _tell(answer, as_json=arguments.json)
        sys.stdout.flush()
        yield from answers


def _batch(asked: Iterator[dict[str, Any]], taken: int) -> list[dict[str, Any]]:
    """The next submissions of one commit; whoever meets a bad one is told how many came before it."""
    try:
        return list(islice(asked, BATCH))
    except (InputFileError, PayloadError) as error:
        if not taken:
            raise
        message = f"{error}\n  the {taken} jobs before it were handed in, and handing them in again adds none"
        raise type(error)(message) from error


def _tell(answer: Submitted, *, as_json: bool) -> None:
    if as_json:
        render.json_line({"id": answer.id, "state": answer.state, "new": answer.new})
    else:
        print(f"job {answer.id} {answer.state}" + ("" if answer.new else " (known already)"))


def _bound(arguments: Namespace, payload: Any, where: str) -> dict[str, Any]:  # noqa: ANN401 - JSON
    submission = Submission(
        kind=arguments.kind,
        payload=payload,
        work_id=arguments.work_id,
        again=arguments.again,
        priority=arguments.priority,
        after_ms=int(arguments.after * 1_000),
        source="command line",
    )
    try:
        return queue.bindings(submission)
    except PayloadError as error:
        message = f"{where}: {error}" if arguments.source else str(error)
        raise PayloadError(message) from error


def _payloads(arguments: Namespace) -> Iterator[tuple[Any, str]]:
    """Each payload, and where it stands."""
    if not arguments.source:
        yield _json("null" if arguments.payload is None else arguments.payload, "--payload"), "--payload"
        return
    for number, line in enumerate(_lines(arguments.source), 1):
        if line.strip():
            where = f"{arguments.source}, line {number}"
            yield _json(line, where), where


def _lines(source: str) -> Iterator[str]:
    try:
        with open(0 if source == "-" else source, encoding="utf-8", closefd=source != "-") as file:
            yield from file
    except OSError as error:
        message = f"{source} cannot be read: {error.strerror}"
        raise InputFileError(message) from error
    except UnicodeDecodeError as error:
        message = f"{source} is not UTF-8: {error}"
        raise InputFileError(message) from error


def _json(text: str, where: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"{where} is not JSON: {error}"
        raise PayloadError(message) from error
