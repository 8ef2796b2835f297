"""Where work may stand, and every move it may make.  This table is the rule: the triggers of the ledger are made from it.

A move is one row of one table, one guarded statement, one event.  ``MOVES`` says who may take a job from where to where; the
ledger refuses every other change, also one typed by hand.  ``docs/states.md`` is printed from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal


class State(StrEnum):
    """Where a job stands."""

    PLANNED = "planned"
    BLOCKED = "blocked"
    READY = "ready"
    LEASED = "leased"
    GATHERING = "gathering"
    DONE = "done"
    UNCLEAR = "unclear"
    REJECTED = "rejected"
    DEAD = "dead"
    CANCELLED = "cancelled"
    WAITING = "waiting"  # of a split only: its next part is not measured yet


class Actor(StrEnum):
    """Who may move."""

    CLIENT = "client"
    WORKER = "worker"
    SCHEDULE = "schedule"
    RECHECK = "recheck"
    HOLDER = "holder"
    STEWARD = "steward"
    PERSON = "person"


Count = Literal["keep", "add", "reset", "either"]


@dataclass(frozen=True, slots=True)
class Move:
    """One verb: from which states to which, by whom, what must exist, and the arithmetic it does.

    ``attempts`` is added to the fence.  ``failures`` and ``starts`` say what happens to those counts (``either``: keep or add).
    An empty ``was`` is the entry of a new row.
    """

    verb: str
    was: tuple[State, ...]
    became: tuple[State, ...]
    actors: tuple[Actor, ...]
    must: str
    attempts: int = 0
    failures: Count = "keep"
    starts: Count = "keep"
    stays: bool = False

    def cells(self) -> Iterator[tuple[str, str, str, str, int, str, str]]:
        """The rows of the ledger's move table: verb, was, became, actor, attempts, failures, starts."""
        for was in self.was or ("",):
            for became in (was,) if self.stays else self.became:
                for actor in self.actors:
                    yield self.verb, was, became, actor, self.attempts, self.failures, self.starts


def _table() -> dict[str, tuple[Move, ...]]:
    """The state table, by noun.  Read it top to bottom."""
    p, b, r, leased, g = State.PLANNED, State.BLOCKED, State.READY, State.LEASED, State.GATHERING
    done, unclear, rejected, dead, cancelled = State.DONE, State.UNCLEAR, State.REJECTED, State.DEAD, State.CANCELLED
    waiting, held = State.WAITING, (State.LEASED, State.GATHERING)
    client, worker, holder, steward, person = Actor.CLIENT, Actor.WORKER, Actor.HOLDER, Actor.STEWARD, Actor.PERSON
    intake, hands, anyone = (client, worker, Actor.SCHEDULE, Actor.RECHECK), (holder, steward), tuple(Actor)
    # fmt: off
    job = (
        Move("submit",  (),                  (p, b, r),                 intake,            "its identity is new; else the existing job is the answer"),
        Move("ripen",   (p,),                (r, b),                    anyone,            "its time has come"),
        Move("unblock", (b,),                (r,),                      anyone,            "prerequisites done, lane free"),
        Move("claim",   (r,),                (leased,),                 (worker,),         "attempt + 1, holder", attempts=1),
        Move("finish",  (leased,),           (done,),                   (holder,),         "result of this attempt; follow-ups with it", starts="reset"),
        Move("split",   (leased,),           (g,),                      (holder,),         "number of parts, window, fold", starts="reset"),
        Move("fold",    (g,),                (done,),                   (holder,),         "all parts folded in order; result"),
        Move("retry",   held,                (p, r),                    hands,             "failures + 1 below the limit", failures="add", starts="reset"),
        Move("bury",    held,                (dead,),                   hands,             "failures at the limit", failures="add", starts="reset"),
        Move("snooze",  (leased,),           (p,),                      (holder,),         "until; counts no failure", starts="reset"),
        Move("release", (leased,),           (r, b),                    hands,             "stopped without an outcome, under 10 starts", starts="either"),
        Move("reject",  held,                (rejected,),               (holder,),         "what is wrong with the input", starts="reset"),
        Move("doubt",   held,                (unclear,),                hands,             "the question", starts="either"),
        Move("decide",  (unclear,),          (done, rejected, r, b),    (person,),         "who, why", starts="reset"),
        Move("correct", (rejected,),         (r, b),                    (person,),         "who, why", failures="reset", starts="reset"),
        Move("revive",  (dead,),             (r, b),                    (person,),         "who, why", failures="reset", starts="reset"),
        Move("ask",     held,                held,                      (person, client),  "who, why; sets cancel_asked_ms", stays=True),
        Move("cancel",  (p, b, r, unclear),  (cancelled,),              (person, client),  "who, why"),
        Move("stop",    held,                (cancelled,),              hands,             "after ask; parts go with it", starts="either"),
    )
    part = (
        Move("open",    (),                  (r,),                      (holder,),         "inside the window of its split"),
        Move("claim",   (r,),                (leased,),                 (worker,),         "attempt + 1, holder", attempts=1),
        Move("finish",  (leased,),           (done,),                   (holder,),         "result; files written and synced", starts="reset"),
        Move("retry",   (leased,),           (p, r),                    hands,             "failures + 1 below the limit", failures="add", starts="reset"),
        Move("bury",    (leased,),           (dead,),                   hands,             "failures or starts at the limit", failures="add", starts="reset"),
        Move("release", (leased,),           (r,),                      hands,             "stopped without an outcome, under 10 starts", starts="either"),
        Move("ripen",   (p,),                (r,),                      anyone,            "its time has come"),
        Move("redo",    (done,),             (r,),                      (holder,),         "the fold's fence; new params", failures="reset"),
    )
    split = (
        Move("open",    (),                  (waiting,),                (holder,),         "the job moves to gathering with it"),
        Move("offer",   (waiting,),          (r,),                      hands,             "the next part has an answer"),
        Move("claim",   (r,),                (leased,),                 (worker,),         "fence + 1, holder", attempts=1),
        Move("step",    (leased,),           (r, waiting),              (holder,),         "state, length, folded parts' deletion together", starts="reset"),
        Move("finish",  (leased,),           (done,),                   (holder,),         "all parts folded; the job moves to done with it", starts="reset"),
        Move("retry",   (leased,),           (r,),                      hands,             "failures + 1 below the limit", failures="add", starts="reset"),
        Move("bury",    (leased,),           (dead,),                   hands,             "failures or starts at the limit", failures="add", starts="reset"),
        Move("release", (leased,),           (r,),                      hands,             "stopped without an outcome, under 10 starts", starts="either"),
    )
    # fmt: on
    return {"job": job, "part": part, "split": split}


NOUNS: Final = _table()
MOVES: Final = NOUNS["job"]
ENDED: Final = (State.DONE, State.REJECTED, State.DEAD, State.CANCELLED)
