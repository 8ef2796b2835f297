"""The whole of a split job in one process, without the engine: any order of completion, any deaths, the same steps.

It holds handlers to what the design allows them: parts see the shared files read-only and an empty scratch folder; the fold
gets the parts strictly in order, and its state only as JSON.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance import Context, Done, Folded, Output, Part, Redo, Reject, Split
from appliance.coordination.handlers import Handler
from appliance.coordination.outcomes import Json

STATE_BYTES_MAX = 32_768
REDOS_MAX = 8


@dataclass(slots=True)
class Outcome:
    """What came out: the result and files of the job, its output's bytes, and how often which part was asked for again."""

    result: Any
    files: dict[str, bytes]
    output: bytes
    redos: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Drive:
    """One job being driven."""

    handler: Handler
    payload: Json
    folder: Path
    index: dict[str, Path]
    dead: frozenset[int]
    parts: dict[int, Part] = field(default_factory=dict)
    redos: dict[int, int] = field(default_factory=dict)

    def context(self, ordinal: int | None = None, params: dict[str, Any] | None = None) -> Context:
        """A context as a hand would get it."""
        scratch = Path(tempfile.mkdtemp(dir=self.folder))
        return Context(
            job_id=1, kind=self.handler.kind, attempt=1, scratch=scratch, ordinal=ordinal, params=params or {}, files=self.index
        )

    def measure(self, ordinal: int, params: dict[str, Any] | None = None) -> None:
        """Measure one part and keep its files."""
        if ordinal in self.dead:
            self.parts[ordinal] = Part(ordinal=ordinal, error="killed by signal 9")
            return
        assert self.handler.part is not None
        done = self.handler.part(self.context(ordinal, params), self.payload)
        assert isinstance(done, Done), done
        files = written(Path(tempfile.mkdtemp(dir=self.folder)), done.files)
        result = json.loads(json.dumps(done.result))
        self.parts[ordinal] = Part(ordinal=ordinal, result=result, files=files, params=params or {})

    def fold(self, ordinal: int, state: Json) -> Folded:
        """Fold one part, measuring it again as often as the fold asks."""
        assert self.handler.fold is not None
        for _ in range(REDOS_MAX):
            answer = self.handler.fold(self.context(), self.payload, state, self.parts[ordinal])
            if isinstance(answer, Folded):
                return answer
            assert isinstance(answer, Redo), answer
            self.redos[ordinal] = self.redos.get(ordinal, 0) + 1
            self.measure(ordinal, dict(answer.params))
        message = f"part {ordinal} was asked for again without end"
        raise AssertionError(message)


def written(folder: Path, files: Mapping[str, bytes]) -> dict[str, Path]:
    """Files of an outcome, on disk and read-only."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o400)
    return {name: folder / name for name in files}


def drive(
    handler: Handler, payload: Json, order: Callable[[int], Sequence[int]] = range, dead: frozenset[int] = frozenset()
) -> Outcome | Reject:
    """Run a job to its end: the parts are measured in the given order, then folded in theirs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drive = Drive(handler, payload, folder, {}, dead)
        split = handler(drive.context(), payload)
        if isinstance(split, Reject):
            return split
        assert isinstance(split, Split), split
        drive.index = written(folder, split.files)
        for ordinal in order(split.count):
            drive.measure(ordinal)
        state, output = json.loads(json.dumps(split.state)), bytearray()
        for ordinal in range(split.count):
            folded = drive.fold(ordinal, state)
            text = json.dumps(folded.state)
            assert len(text) <= STATE_BYTES_MAX
            state = json.loads(text)
            output += folded.output
        return concluded(drive, state, bytes(output))


def concluded(drive: Drive, state: Json, output: bytes) -> Outcome:
    """The end of the job."""
    assert drive.handler.conclude is not None
    path = drive.folder / "output"
    path.write_bytes(output)
    digest = hashlib.sha256(output).hexdigest()
    done = drive.handler.conclude(drive.context(), drive.payload, state, Output(path=path, size_bytes=len(output), sha256=digest))
    assert isinstance(done, Done), done
    return Outcome(done.result, dict(done.files), output, drive.redos)
