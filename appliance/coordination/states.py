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


P, B, R, LEASED, G = State.PLANNED, State.BLOCKED, State.READY, State.LEASED, State.GATHERING
DONE, UNCLEAR, REJECTED, DEAD, CANCELLED = State.DONE, State.UNCLEAR, State.REJECTED, State.DEAD, State.CANCELLED
WAITING, HELD = State.WAITING, (State.LEASED, State.GATHERING)
CLIENT, WORKER, HOLDER, STEWARD, PERSON = Actor.CLIENT, Actor.WORKER, Actor.HOLDER, Actor.STEWARD, Actor.PERSON
INTAKE, HANDS, ANYONE = (CLIENT, WORKER, Actor.SCHEDULE, Actor.RECHECK), (HOLDER, STEWARD), tuple(Actor)

# fmt: off
MOVES: Final = (
    Move("submit",  (),                  (P, B, R),                 INTAKE,            "its identity is new; else the existing job is the answer"),
    Move("ripen",   (P,),                (R, B),                    ANYONE,            "its time has come"),
    Move("unblock", (B,),                (R,),                      ANYONE,            "prerequisites done, lane free"),
    Move("claim",   (R,),                (LEASED,),                 (WORKER,),         "attempt + 1, holder", attempts=1),
    Move("finish",  (LEASED,),           (DONE,),                   (HOLDER,),         "result of this attempt; follow-ups with it", starts="reset"),
    Move("split",   (LEASED,),           (G,),                      (HOLDER,),         "number of parts, window, fold", starts="reset"),
    Move("fold",    (G,),                (DONE,),                   (HOLDER,),         "all parts folded in order; result"),
    Move("retry",   HELD,                (P, R),                    HANDS,             "failures + 1 below the limit", failures="add", starts="reset"),
    Move("bury",    HELD,                (DEAD,),                   HANDS,             "failures at the limit", failures="add", starts="reset"),
    Move("snooze",  (LEASED,),           (P,),                      (HOLDER,),         "until; counts no failure", starts="reset"),
    Move("release", (LEASED,),           (R, B),                    HANDS,             "stopped without an outcome, under 10 starts", starts="either"),
    Move("reject",  HELD,                (REJECTED,),               (HOLDER,),         "what is wrong with the input", starts="reset"),
    Move("doubt",   HELD,                (UNCLEAR,),                HANDS,             "the question", starts="either"),
    Move("decide",  (UNCLEAR,),          (DONE, REJECTED, R, B),    (PERSON,),         "who, why", starts="reset"),
    Move("correct", (REJECTED,),         (R, B),                    (PERSON,),         "who, why", failures="reset", starts="reset"),
    Move("revive",  (DEAD,),             (R, B),                    (PERSON,),         "who, why", failures="reset", starts="reset"),
    Move("ask",     HELD,                HELD,                      (PERSON, CLIENT),  "who, why; sets cancel_asked_ms", stays=True),
    Move("cancel",  (P, B, R, UNCLEAR),  (CANCELLED,),              (PERSON, CLIENT),  "who, why"),
    Move("stop",    HELD,                (CANCELLED,),              HANDS,             "after ask; parts go with it", starts="either"),
)
PART_MOVES: Final = (
    Move("open",    (),                  (R,),                      (HOLDER,),         "inside the window of its split"),
    Move("claim",   (R,),                (LEASED,),                 (WORKER,),         "attempt + 1, holder", attempts=1),
    Move("finish",  (LEASED,),           (DONE,),                   (HOLDER,),         "result; files written and synced", starts="reset"),
    Move("retry",   (LEASED,),           (P, R),                    HANDS,             "failures + 1 below the limit", failures="add", starts="reset"),
    Move("bury",    (LEASED,),           (DEAD,),                   HANDS,             "failures or starts at the limit", failures="add", starts="reset"),
    Move("release", (LEASED,),           (R,),                      HANDS,             "stopped without an outcome, under 10 starts", starts="either"),
    Move("ripen",   (P,),                (R,),                      ANYONE,            "its time has come"),
    Move("redo",    (DONE,),             (R,),                      (HOLDER,),         "the fold's fence; new params", failures="reset"),
)
SPLIT_MOVES: Final = (
    Move("open",    (),                  (WAITING,),                (HOLDER,),         "the job moves to gathering with it"),
    Move("offer",   (WAITING,),          (R,),                      HANDS,             "the next part has an answer"),
    Move("claim",   (R,),                (LEASED,),                 (WORKER,),         "fence + 1, holder", attempts=1),
    Move("step",    (LEASED,),           (R, WAITING),              (HOLDER,),         "state, length, folded parts' deletion together", starts="reset"),
    Move("finish",  (LEASED,),           (DONE,),                   (HOLDER,),         "all parts folded; the job moves to done with it", starts="reset"),
    Move("retry",   (LEASED,),           (R,),                      HANDS,             "failures + 1 below the limit", failures="add", starts="reset"),
    Move("bury",    (LEASED,),           (DEAD,),                   HANDS,             "failures or starts at the limit", failures="add", starts="reset"),
    Move("release", (LEASED,),           (R,),                      HANDS,             "stopped without an outcome, under 10 starts", starts="either"),
)
# fmt: on
NOUNS: Final = {"job": MOVES, "part": PART_MOVES, "split": SPLIT_MOVES}
ENDED: Final = (DONE, REJECTED, DEAD, CANCELLED)
