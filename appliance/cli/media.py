"""Quality control of films: measure files in parts, and give verdicts and reports."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from appliance import wiring
from appliance.cli import access, hosting, render, values, waiting
from appliance.cli.access import Access
from appliance.coordination import files, history, queue
from appliance.coordination.history import Shown
from appliance.coordination.work import Submission, is_text
from appliance.errors import InputFileError, NoSuchJobError, ReportNotWrittenError

KIND: Final = "media.qc"
REPORTS: Final = "reports"
PATH_CHARS_MOST: Final = 400
NAME_BYTES_MOST: Final = 200  # of a film's name in that of its report; file systems take 255
PASSED, SHORT_OF_IT, NOT_MEASURED = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """A film that was asked for, and its job."""

    path: Path
    id: int


def configure(parser: ArgumentParser) -> None:
    """Two verbs: measure, and fetch a report again."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    qc = verbs.add_parser("qc", help="measure films; exit 0: all passed, 1: one did not, 2: one could not be measured")
    qc.add_argument("files", nargs="+", type=Path, metavar="FILE")
    qc.add_argument("--profile", default="default", metavar="NAME", help="which tests (default: default)")
    qc.add_argument("--again", action="store_true", help="measure again what was measured before")
    qc.add_argument("--wait", action="store_true", help="wait for the verdict also when an appliance runs that does the work")
    one = verbs.add_parser("report", help="write the report of a job")
    one.add_argument("id", type=values.whole, metavar="ID")
    for verb in (qc, one):
        verb.add_argument(
            "--output", type=Path, default=Path(REPORTS), metavar="DIR", help=f"folder for reports (default: ./{REPORTS})"
        )
        verb.add_argument("--json", action="store_true", help="one JSON line a film")


def main(arguments: Namespace) -> int:
    """Do what the verb says."""
    if arguments.verb == "report":
        with access.opened(arguments) as found:
            return _tell(found, arguments, arguments.id, None)
    for path in arguments.files:
        _readable(path)
    films: list[Film] = []
    while True:
        with hosting.hosted(access.paths(arguments)) as own, access.opened(arguments) as found:
            films = films or _submit(found, arguments)
            if not own and not arguments.wait:
                for film in films:
                    print(f"job {film.id} {render.safe(film.path)}: `appliance media report {film.id}` when it is done")
                return PASSED
            if _wait(found, arguments, films):
                return max(_tell(found, arguments, film.id, film.path) for film in _once(films))


def _readable(path: Path) -> None:
    """Refuse what is no file, before it is opened: a fifo would wait for its writer."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
        if is_file:
            with path.open("rb"):
                pass
    except OSError as error:
        message = f"{render.safe(path)} cannot be read: {error.strerror}"
        raise InputFileError(message) from error
    if not is_file or not is_text(str(path.resolve())):
        what = "is not a file" if not is_file else "has a name that is not UTF-8: link to it under another one"
        message = f"{render.safe(path)} {what}"
        raise InputFileError(message)


def _submit(found: Access, arguments: Namespace) -> list[Film]:
    """Hand the films in; a file is known by its path, size and time of change, so asking again gives the report there is."""
    asked = []
    for path in arguments.files:
        real, about = path.resolve(), path.stat()
        asked.append(
            Submission(
                kind=KIND,
                payload={"path": str(real), "profile": arguments.profile},
                work_id=f"{arguments.profile}:{about.st_size}:{about.st_mtime_ns}:{_short(real)}",
                again=arguments.again,
                source="media qc",
            )
        )
    with found.write() as tx:
        answers = queue.submit(tx, asked)
    return [Film(path=path, id=answer.id) for path, answer in zip(arguments.files, answers, strict=True)]


def _short(path: Path) -> str:
    """A path as it stands in a work id; a very long one by its digest."""
    text = str(path)
    return text if len(text) <= PATH_CHARS_MOST else hashlib.sha256(text.encode("utf-8")).hexdigest()


def _wait(found: Access, arguments: Namespace, films: Sequence[Film]) -> bool:
    """Wait for all films; False when the appliance is gone before: with the command that had started it, or by a kill."""
    once = _once(films)
    ended = waiting.follow(
        found,
        [film.id for film in once],
        quiet=arguments.json,
        labels=[film.path.name for film in once],
        goes_on=lambda: wiring.running(found.paths.state),
    )
    return len(list(ended)) == len(once)


def _once(films: Sequence[Film]) -> list[Film]:
    """The films, one for each job."""
    return list({film.id: film for film in films}.values())


def _tell(found: Access, arguments: Namespace, id_: int, path: Path | None) -> int:
    """Write the report of an ended job and say where it is; the exit code of its verdict."""
    shown = history.show(found.ledger, id_)
    if shown.kind != KIND:
        message = f"job {id_} is a {shown.kind}, not a {KIND}"
        raise NoSuchJobError(message)
    name = (path or Path(shown.payload["path"])).name
    if shown.state != "done":
        _say(arguments, {"file": name, "job": id_, "state": shown.state, "error": shown.error_text})
        return NOT_MEASURED
    try:
        written = _export(found, arguments.output, shown, name)
    except OSError as error:
        message = f"the report of job {id_} cannot be written to {arguments.output}: {error.strerror}"
        raise ReportNotWrittenError(message) from error
    told = {"file": name, "job": id_, "state": "done", **shown.result, **{key: str(value) for key, value in written.items()}}
    _say(arguments, told)
    return (
        SHORT_OF_IT
        if shown.result["verdict"] == "fail"
        else PASSED
        if shown.result["verdict"] in ("pass", "warn")
        else NOT_MEASURED
    )


def _say(arguments: Namespace, told: dict[str, Any]) -> None:
    if arguments.json:
        render.json_line(told)
        return
    if told["state"] != "done":
        why = render.safe(told["error"] or "it has not ended")
        print(f"{render.safe(told['file'])}: no verdict, job {told['job']} is {told['state']}: {why}")
        return
    tests = ", ".join(f"{name} {status}" for name, status in told["tests"].items())
    print(f"{render.safe(told['file'])}: {told['verdict'].upper()}" + (f" ({tests})" if tests else ""))
    print(f"  {told['frames']} frames, parts: {told['parts']}")
    for key in ("report", "frame_data", "run_record"):
        print(f"  {key.replace('_', ' '):11} {render.safe(told[key])}")


def _export(found: Access, folder: Path, shown: Shown, name: str) -> dict[str, Path]:
    """Copy report and frame data out of the state folder, and write the record of the run beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name.encode('utf-8')[:NAME_BYTES_MOST].decode('utf-8', 'ignore')}.{shown.id}"
    targets = {"report": folder / f"{stem}.report.json", "frame_data": folder / f"{stem}.frames"}
    for place in history.files(found.ledger, shown.id):
        if place.name == "report.json":
            files.export(found.paths.state, place, targets["report"])
        elif place.name.startswith(f"{files.OUTPUT}."):
            files.export(found.paths.state, place, targets["frame_data"])
    record = folder / f"{stem}.run.json"
    files.replace(record, json.dumps(_run_record(found, shown), indent=1).encode())
    return targets | {"run_record": record}


def _run_record(found: Access, shown: Shown) -> dict[str, Any]:
    """Who measured what, how often and how long: all that differs from one time to the next."""
    moves = []
    after = 0
    while events := history.events(found.ledger, shown.id, after=after):
        after = events[-1].seq
        moves += [
            {"at_ms": each.at - shown.submitted, "of": each.noun, "part": each.ordinal, "move": each.move, "attempt": each.attempt}
            | {"worker": each.holder, "cause": each.cause}
            for each in events
        ]
    took_ms = None if shown.ended is None else shown.ended - shown.submitted
    return {"job": shown.id, "took_ms": took_ms, "cores": len(os.sched_getaffinity(0)), "moves": moves}
