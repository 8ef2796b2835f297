"""What the service manager is told, and when: ready, alive, still starting, and one sentence that says how it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from appliance import limits
from appliance.clock import BootInstant
from appliance.runtime.supervision.children import Child, State, feeds_watchdog
from appliance.runtime.supervision.notify import Notifier
from appliance.runtime.supervision.program import PREPARE, Program


class Reports:
    """The state of what was told: each thing once, or as often as it must be."""

    def __init__(self, program: Program, now: BootInstant) -> None:
        self._notifier = Notifier(program.notify_address)
        self._every_ms = min(limits.LOOP_MS_MAX, max((program.watchdog_ms or limits.WAIT_MS_MAX) // 3, 1))
        self._next = now
        self._ready = False
        self._sentence = ""

    def next_time(self) -> BootInstant:
        """When something must be said again."""
        return self._next

    def stopping(self) -> None:
        """The stop has begun."""
        self._notifier.stopping()

    def send(self, children: Mapping[str, Child], degraded: Collection[str], now: BootInstant) -> None:
        """Say what is new, and feed the watchdog when it is time."""
        if not self._ready and started(children.values(), degraded):
            self._ready = True
            self._notifier.ready()
        sentence = summary(children.values(), degraded)
        if sentence != self._sentence:
            self._sentence = sentence
            self._notifier.say(sentence)
        if now >= self._next:
            self._next = now + self._every_ms
            if not self._ready:
                self._notifier.more_time()
            if feeds_watchdog(children.values(), now):
                self._notifier.alive()


def started(children: Collection[Child], degraded: Collection[str]) -> bool:
    """Whether the start is over: there is a plan, and each child is up, or of a sort that is known to be degraded."""
    return bool(children) and all(
        child.plan.name != PREPARE and (child.state is State.UP or child.plan.sort in degraded) for child in children
    )


def summary(children: Collection[Child], degraded: Collection[str]) -> str:
    """One sentence: how many are up, how many a reload has not reached yet, and what is degraded."""
    crew = [child for child in children if child.plan.name != PREPARE]
    up = sum(child.state is State.UP for child in crew)
    newest = max((child.generation for child in crew), default=0)
    older = sum(child.generation < newest for child in crew)
    plan = f"; {older} still on the plan before" if older else ""
    tail = f"; degraded: {', '.join(sorted(degraded))}" if degraded else ""
    return f"{up} of {len(crew)} children up{plan}{tail}"


def recovered(children: Collection[Child], now: BootInstant) -> set[str]:
    """The sorts whose children have all been up for long enough to count as healthy."""
    crew = [child for child in children if child.plan.name != PREPARE]
    ailing = {child.plan.sort for child in crew if child.state is not State.UP or now - child.since < child.kind.pace.healthy_ms}
    return {child.plan.sort for child in crew} - ailing
