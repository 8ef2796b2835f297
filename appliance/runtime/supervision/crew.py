"""The children that there are, and what can be done to one: start it, hear it, dump, terminate, kill and reap it.

Every act takes the child's name, does one thing to its process, and enters the child as it then is.  When something is to be
done, and why, is decided elsewhere.
"""

from __future__ import annotations

import selectors
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from appliance import limits
from appliance.clock import BootInstant
from appliance.runtime.supervision import children as table
from appliance.runtime.supervision import reap
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.children import Body, Child, State, Step
from appliance.runtime.supervision.launch import Launcher
from appliance.runtime.supervision.program import PREPARE
from appliance.runtime.supervision.seats import Kill, Said

LIVING = (State.STARTING, State.UP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A child that was reaped: as it was, with its process, its code and its last words."""

    child: Child
    body: Body
    code: int
    said: bytes


@dataclass(slots=True, kw_only=True)
class Crew:
    """All children by name.  ``now`` is the time of the pass, set by the loop."""

    launcher: Launcher
    selector: selectors.BaseSelector
    now: BootInstant
    children: dict[str, Child] = field(default_factory=dict)

    def pids(self) -> set[int]:
        """The processes of the table."""
        return {child.body.process.pid for child in self.children.values() if child.body is not None}

    def with_process(self, pid: int, start_ticks: int | None = None) -> Child | None:
        """The child that has this process."""
        for child in self.children.values():
            process = None if child.body is None else child.body.process
            if process is not None and process.pid == pid and start_ticks in (None, process.start_ticks):
                return child
        return None

    def start(self, child: Child, deaths: Iterable[bytes]) -> None:
        """Fork a child, and tell it of the last deaths if it wants that; a machine that has no room is asked again later."""
        name = child.plan.name
        bytes_max = limits.PLAN_BYTES_MAX if name == PREPARE else limits.CHILD_LINE_BYTES_MAX
        try:
            body = self.launcher.start(child.kind, name, child.plan.argument, bytes_max)
        except OSError as error:
            self.launcher.log.error("no room for another process", child=name, error=str(error))
            self.children[name] = replace(child, since=self.now, wait_ms=limits.LOOP_MS_MAX)
            return
        self.selector.register(body.channel.line, selectors.EVENT_READ, name)
        self.children[name] = replace(table.moved(child, Step.START, self.now), body=body)
        for line in deaths:
            body.channel.tell(line)

    def hear(self, name: str) -> None:
        """Take in what a child says; ``prepare`` is heard out to its end."""
        child = self.children.get(name)
        if child is None or child.body is None:
            return
        if not child.body.channel.hear():
            self.selector.unregister(child.body.channel.line)
        if name != PREPARE:
            for said in child.body.channel.said():
                self._understand(name, said)

    def _understand(self, name: str, said: Said) -> None:
        child = self.children[name]
        if child.state is State.STARTING and (said.ready or said.beat):
            self.children[name] = table.moved(child, Step.READY, self.now)
        elif said.beat:
            self.children[name] = replace(child, heard=self.now)
        if said.kill is not None and child.kind.wants_deaths:
            self._kill_asked(said.kill)

    def _kill_asked(self, asked: Kill) -> None:
        child = self.with_process(asked.pid, asked.start_ticks)
        if child is None:
            self.launcher.log.warning("asked to kill what is no child", pid=asked.pid)
        else:
            self.kill(child, asked.cause)

    def dump(self, child: Child) -> None:
        """Have a late child write its stacks to the log."""
        if child.body is not None:
            self.launcher.log.warning("child is late", child=child.plan.name, silent_ms=self.now - child.heard)
            reap.send(child.body.process.pid, signal.SIGUSR1)
            self.children[child.plan.name] = table.moved(child, Step.DUMP, self.now)

    def terminate(self, child: Child, why: Cause, wait_ms: int) -> None:
        """Ask a child to end, and give it so long; one that has no process is simply taken out."""
        if child.body is None:
            del self.children[child.plan.name]
        elif child.state in LIVING:
            reap.send(child.body.process.pid, signal.SIGTERM)
            left = table.moved(child, Step.TERMINATE, self.now)
            self.children[child.plan.name] = replace(left, killed_for=why, wait_ms=wait_ms)

    def kill(self, child: Child, why: Cause) -> None:
        """Kill a child and its group; a cause that is known already stays."""
        if child.body is not None and child.state is not State.ENDING:
            reap.kill_group(child.body.process.pid)
            reap.send(child.body.process.pid, signal.SIGKILL)
            self.children[child.plan.name] = replace(table.moved(child, Step.KILL, self.now), killed_for=child.killed_for or why)

    def reaped(self) -> Iterator[Ended]:
        """Reap all that have died; those of the table leave it.  What a dead child had started is killed with it."""
        for pid, code in reap.dead():
            child = self.with_process(pid)
            if child is None or child.body is None:
                continue
            child.body.channel.drain()
            if child.body.channel.line in self.selector.get_map():
                self.selector.unregister(child.body.channel.line)
            child.body.channel.close()
            del self.children[child.plan.name]
            yield Ended(child=child, body=child.body, code=code, said=bytes(child.body.channel.pending))

    def tell(self, line: bytes) -> None:
        """Tell of a death those who want to know."""
        for child in self.children.values():
            if child.body is not None and child.kind.wants_deaths and not child.body.channel.tell(line):
                self.launcher.log.warning("child does not read of deaths", child=child.plan.name)

    def kill_strays(self) -> bool:
        """Kill the orphans that a dead child left behind; whether there were any."""
        known = self.pids()
        found = reap.strays(known)
        for pid in found:
            self.launcher.log.warning("stray killed", pid=pid)
            reap.kill_stray(pid, known)
        return bool(found)
