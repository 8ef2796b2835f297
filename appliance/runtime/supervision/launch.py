"""Starting a child: its pipes, the fork, its seat."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from appliance import limits
from appliance.clock import Clock
from appliance.errors import ApplianceError
from appliance.log import Log
from appliance.runtime.supervision import channels, fork, identity
from appliance.runtime.supervision.channels import Channel, Pipes
from appliance.runtime.supervision.children import Body
from appliance.runtime.supervision.identity import Process
from appliance.runtime.supervision.program import PREPARE, Kind
from appliance.runtime.supervision.seats import Seat, listen


class Finding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why ``prepare`` could not make a plan."""

    finding: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """What all children have in common.  ``parent`` is the reader of a pipe whose writer only the supervisor has."""

    clock: Clock
    log: Log
    parent: int

    def start(self, kind: Kind, name: str, argument: Mapping[str, Any], bytes_max: int = limits.CHILD_LINE_BYTES_MAX) -> Body:
        """Fork a child of this kind.

        Raises ``OSError`` when the machine has no room for another process, ``ForkRefusedError`` when ours is not clean.
        """
        pipes = channels.make(wants_deaths=kind.wants_deaths)
        nonce = identity.new_nonce()
        try:
            pid = fork.fork(
                lambda: kind.main(self._seat(kind, name, argument, identity.current(nonce), pipes)),
                settle=lambda: listen(pipes.stop_writer, self.log),
                keep=[*pipes.theirs, self.parent],
                log=self.log,
            )
        except BaseException:
            channels.close(pipes.ours)
            raise
        finally:
            channels.close(pipes.theirs)
        channel = Channel(line=pipes.line_reader, deaths=pipes.deaths_writer, bytes_max=bytes_max)
        return Body(process=_unreaped(pid, nonce), channel=channel)

    def _seat(self, kind: Kind, name: str, argument: Mapping[str, Any], process: Process, pipes: Pipes) -> Seat:
        return Seat(
            name=name,
            kind=kind.name,
            argument=argument,
            process=process,
            clock=self.clock,
            log=self.log.bind(child=name, pid=process.pid),
            stop=pipes.stop_reader,
            parent=self.parent,
            line=pipes.line_writer,
            deaths=pipes.deaths_reader,
        )


def prepare_kind(prepare: Callable[[Seat], bytes], start_ms: int) -> Kind:
    """The one-shot child that says its plan, or its finding, on its line and ends."""

    def main(seat: Seat) -> int:
        os.set_blocking(seat.line, True)
        try:
            said, code = prepare(seat), 0
        except ApplianceError as error:
            said, code = msgspec.json.encode(Finding(finding=str(error), remedy=error.remedy)), error.exit_code
        while said:
            said = said[os.write(seat.line, said) :]
        return code

    return Kind(name=PREPARE, main=main, start_ms=start_ms)


def finding_of(said: bytes) -> Finding:
    """What a ``prepare`` that did not succeed said, or that it said nothing."""
    try:
        return msgspec.json.decode(said, type=Finding)
    except msgspec.MsgspecError:
        return Finding(finding="prepare ended without a plan and without a word", remedy="look for its last lines in the log")


def _unreaped(pid: int, nonce: str) -> Process:
    process = identity.of(pid, nonce)
    if process is None:
        message = f"the child {pid} is not in /proc, though it was not reaped"
        raise ProcessLookupError(message)
    return process
