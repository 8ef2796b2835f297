"""The supervisor: starts children, hears them, buries them, starts them again, and stops them all.

It promises
  * to be back in its loop within a moment, whatever the children do: it waits in one place only, for descriptors, signals and the
    next thing that is due, and never for a child or a lock;
  * that a child which dies is started again after the policy's back-off, for ever, and that no other child notices;
  * that a stop is bounded: all children are asked at once, each has its own time, and what is left then is killed, with everything
    that they had started; a second signal skips the time;
  * that nobody is judged silent by a supervisor that was itself kept from running, or on a box that starves everybody.

The invariant: the crew holds each child exactly once, by name, and a child has a process if and only if its state is not
WAITING.  A process of ours that is not in the table is a stray and is killed.

It never opens a database, never runs a handler, has one thread, no event loop, no lock, and writes one short line when a child
dies, nothing else.  What should happen is decided by pure functions (``children``, ``policy``, ``causes``, ``rescue``,
``starvation``), what can be done to a child stands in ``crew``; here the one is joined to the other.
"""

from __future__ import annotations

import os
import random
import selectors
import signal
from dataclasses import replace

from appliance import limits
from appliance.clock import BootInstant, Clock
from appliance.log import Log
from appliance.runtime.supervision import children as table
from appliance.runtime.supervision import deaths, kernel, policy, program, reports, rescue, signals
from appliance.runtime.supervision.causes import Cause, Facts, cause
from appliance.runtime.supervision.children import Child, Step
from appliance.runtime.supervision.crew import Crew, Ended
from appliance.runtime.supervision.launch import Launcher, finding_of, prepare_kind
from appliance.runtime.supervision.policy import Death, Degrade, Restart
from appliance.runtime.supervision.program import PREPARE, ChildPlan, Program
from appliance.runtime.supervision.starvation import Starvation
from appliance.site import boot, pressure


def supervise(program: Program, *, clock: Clock, log: Log) -> int:
    """Run the program until a TERM or INT, and give the exit code: 0, or that of a ``prepare`` that found something at start.

    To be called in the main thread of a single-threaded process.  SIGHUP makes a new plan and all children anew.
    """
    kernel.adopt_orphans()
    reader, writer = os.pipe2(os.O_CLOEXEC)
    with signals.heard() as came, selectors.DefaultSelector() as selector:
        selector.register(came.descriptor, selectors.EVENT_READ)
        crew = Crew(launcher=Launcher(clock=clock, log=log, parent=reader), selector=selector, now=clock.boot())
        try:
            return Supervisor(program, crew, came).serve()
        finally:
            os.close(reader)
            os.close(writer)


class Supervisor:
    """The loop and what it knows."""

    def __init__(self, program: Program, crew: Crew, came: signals.Signals) -> None:
        self.program, self.crew, self.came = program, crew, came
        self.clock, self.log = crew.launcher.clock, crew.launcher.log
        self.kinds = {kind.name: kind for kind in program.kinds}
        self.plan: dict[str, ChildPlan] = {}
        self.generation = 0
        self.boot_id = boot.boot_id()
        self.history = deaths.History(program.deaths_path)
        self.degraded: set[str] = set()
        self.oom_kills = pressure.oom_kills()
        self.starvation = Starvation(log=self.log, until=crew.now)
        self.reports = reports.Reports(program, crew.now)
        self.held: rescue.Held | None = None
        self.again = False
        self.stop_until: BootInstant | None = None
        self.code = 0

    def serve(self) -> int:
        """Go round until all is stopped."""
        self.prepare()
        while not self.finished():
            self.act()
            self.wait()
            for number in self.came.take():
                self.obey(number)
            self.bury()
            self.recycle()
            self.stop_last()
            self.free_turnstile()
            self.degraded -= reports.recovered(self.crew.children.values(), self.crew.now)
            self.reports.send(self.crew.children, self.degraded, self.crew.now)
        return self.code

    def act(self) -> None:
        """Do everything that is due, unless it is patient and the box is starved."""
        for child in list(self.crew.children.values()):
            due = table.next_due(child)
            if due is not None and due.at <= self.crew.now and not (due.patient and self.spared(child, due.silent_since)):
                self.do(child, due.step)

    def do(self, child: Child, step: Step) -> None:
        """Carry out a step that the clock asked for; READY and REAP come from the child, never from the clock."""
        if step is Step.START:
            lines = self.history.last(self.boot_id, limits.DEATHS_REPLAYED) if child.kind.wants_deaths else []
            self.crew.start(child, map(deaths.encode, lines))
        elif step is Step.DUMP:
            self.crew.dump(child)
        elif step is Step.TERMINATE:
            self.log.error("child shows no life", child=child.plan.name, silent_ms=self.crew.now - child.heard)
            self.crew.terminate(child, Cause.HUNG, limits.KILL_GRACE_MS)
        elif step is Step.KILL:
            self.crew.kill(child, Cause.HUNG)

    def wait(self) -> None:
        """Sleep until something happens or is due; what was said is heard before anybody is judged."""
        wake = self.next_wake()
        events = self.crew.selector.select(max(wake - self.clock.boot(), 0) / 1000)
        self.crew.now = self.clock.boot()
        self.starvation.woke(wake, self.crew.now)
        for key, _ in events:
            if key.data is not None:
                self.crew.hear(key.data)

    def next_wake(self) -> BootInstant:
        """When there is something to do at the latest.  What is overdue was put off, and is looked at again in a moment."""
        now = self.crew.now
        times = [now + limits.LOOP_MS_MAX, self.reports.next_time()]
        times += [due.at for child in self.crew.children.values() if (due := table.next_due(child)) is not None]
        times += [self.held.since + self.program.turn_held_ms] if self.held is not None else []
        times += [self.stop_until] if self.stop_until is not None else []
        return min((time if time > now else now + limits.BEAT_MS for time in times), key=lambda time: time.ms)

    # --- stopping --------------------------------------------------------------------------------

    def obey(self, number: signal.Signals) -> None:
        """Do what a signal asks."""
        reload = number is signal.SIGHUP and self.program.hangup_reloads
        if reload and self.stop_until is None:
            self.prepare()
        elif number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) and not reload:
            self.stop()

    def stop(self) -> None:
        """Ask all children at once to end, each with its own time; asked a second time, kill them."""
        if self.stop_until is None:
            self.reports.stopping()
            self.stop_until = self.crew.now + self.program.stop_ms + 3 * limits.KILL_GRACE_MS
            for child in list(self.crew.children.values()):
                if child.body is None or not child.kind.leaves_last:
                    wait_ms = limits.KILL_GRACE_MS if child.plan.name == PREPARE else self.program.stop_ms
                    self.crew.terminate(child, Cause.ASKED, wait_ms)
        else:
            self.stop_until = self.crew.now + limits.KILL_GRACE_MS
            for child in list(self.crew.children.values()):
                self.crew.kill(child, Cause.ASKED)

    def stop_last(self) -> None:
        """Once nobody else is left, ask those who leave last; they have what is left of the time."""
        if self.stop_until is not None and all(child.kind.leaves_last for child in self.crew.children.values()):
            left_ms = self.stop_until - self.crew.now - 2 * limits.KILL_GRACE_MS
            for child in list(self.crew.children.values()):
                self.crew.terminate(child, Cause.ASKED, max(left_ms, limits.KILL_GRACE_MS))

    def finished(self) -> bool:
        """Whether nothing of ours is left, or what is left cannot be killed by anybody."""
        strays = self.crew.kill_strays()
        if self.stop_until is None:
            return False
        left = sorted(self.crew.children)
        if (left or strays) and self.crew.now >= self.stop_until:
            self.log.error("children that cannot be killed are left behind", children=left)
            return True
        return not left and not strays

    # --- the plan --------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Have a plan made, unless one is being made: then another one after it."""
        self.again = PREPARE in self.crew.children
        if not self.again:
            kind = prepare_kind(self.program.prepare, self.program.prepare_ms)
            self.crew.children[PREPARE] = table.new(ChildPlan(name=PREPARE, kind=PREPARE), kind, self.generation, self.crew.now)

    def prepared(self, ended: Ended) -> None:
        """A plan was made, or a finding: at start that is the end, later the old plan goes on."""
        code = ended.code
        try:
            if code == 0:
                self.follow(program.decode(ended.said, self.kinds))
            else:
                found = finding_of(ended.said)
                self.log.error("prepare found something", finding=found.finding, remedy=found.remedy, code=code)
        except program.PlanError as error:
            code = error.exit_code
            self.log.error("plan refused", finding=str(error), remedy=error.remedy)
        if code != 0 and self.generation == 0:
            self.code = code if code > 0 else program.PlanError.exit_code
            self.stop()
        elif self.again:
            self.prepare()

    def follow(self, plan: program.Plan) -> None:
        """Stop what vanished or changed, enter what is new; what is as before is made anew one after another."""
        self.generation += 1
        self.plan = {child.name: child for child in plan.children}
        for child in list(self.crew.children.values()):
            if self.plan.get(child.plan.name) != child.plan:
                self.crew.terminate(child, Cause.ASKED, self.program.stop_ms)
        for name in self.plan:
            child_before = self.crew.children.get(name)
            if child_before is None or child_before.body is None:
                self.enter(name, child_before)
        self.log.info("plan", generation=self.generation, children=list(self.plan))

    def enter(self, name: str, before: Child | None, wait_ms: int = 0) -> None:
        """Put a child of the plan into the table; one that waits for its restart goes on waiting."""
        entry = self.plan[name]
        child = table.new(entry, self.kinds[entry.kind], self.generation, self.crew.now)
        if before is not None:
            waits = before.body is None
            child = replace(
                child,
                since=before.since if waits else self.crew.now,
                wait_ms=before.wait_ms if waits else wait_ms,
                proven=before.proven,
            )
        self.crew.children[name] = child

    def recycle(self) -> None:
        """After a reload, ask the next child of the old plan to make room for its successor."""
        if PREPARE in self.crew.children or self.stop_until is not None:
            return
        child = table.next_to_recycle(self.crew.children.values(), self.generation)
        if child is not None:
            self.crew.terminate(child, Cause.ASKED, self.program.stop_ms)

    # --- deaths and rescues ----------------------------------------------------------------------

    def bury(self) -> None:
        """Reap the dead, and see to their successors."""
        before, ended = self.oom_kills, list(self.crew.reaped())
        if ended:
            self.oom_kills = pressure.oom_kills()
        for each in ended:
            if each.child.plan.name != PREPARE:
                self.succeed(each, Facts(killed_for=each.child.killed_for, oom_kills=self.oom_kills - before))
            elif self.stop_until is None:
                self.prepared(each)

    def succeed(self, ended: Ended, facts: Facts) -> None:
        """Write a death down, tell of it, and enter the successor if the plan has one."""
        name, sort, pace = ended.child.plan.name, ended.child.plan.sort, ended.child.kind.pace
        history = self.history.of_boot(self.boot_id)
        dead = Death(
            name=name, sort=sort, cause=cause(ended.code, facts), at=self.crew.now, lived_ms=lived_ms(ended, self.crew.now)
        )
        asked = dead.cause is Cause.ASKED
        what = Restart(after_ms=0) if asked else policy.decide(dead, history, pace, random.random())  # noqa: S311 - jitter
        line = deaths.line(dead, ended.body.process, ended.code, what)
        try:
            self.history.record(line)
        except OSError as error:
            self.log.error("death cannot be written down", error=str(error))
        (self.log.info if asked else self.log.error)(
            "child ended", child=name, cause=dead.cause, code=ended.code, after_ms=what.after_ms
        )
        self.crew.tell(deaths.encode(line))
        self.degraded |= {sort} if isinstance(what, Degrade) else set()
        if name in self.plan and self.stop_until is None:
            self.enter(name, ended.child, what.after_ms)

    def spared(self, child: Child, silent_since: BootInstant) -> bool:
        """Whether a silent child is not judged now."""
        return child.body is not None and self.starvation.spares(child.body.process.pid, silent_since, self.crew.now)

    def free_turnstile(self) -> None:
        """Kill whoever has been inside too long with one ticket, be it our child or not."""
        before, self.held = self.held, self.program.held()
        held, now = self.held, self.crew.now
        if (
            held is None
            or not rescue.overdue(held, before, now, self.program.turn_held_ms)
            or self.starvation.spares(held.pid, held.since, now)
        ):
            return
        child = self.crew.with_process(held.pid, held.start_ticks)
        if child is not None and child.plan.name == PREPARE:
            return  # a migration may take long; it has a limit of its own
        if child is not None:
            self.crew.kill(child, Cause.HUNG)
        elif not rescue.kill(held):
            return
        self.log.error("holder of the turnstile was frozen and is killed", pid=held.pid, held_ms=now - held.since)


def lived_ms(ended: Ended, now: BootInstant) -> int:
    """How long a child lived, by the time it was started."""
    return now - ended.child.born
