"""The ledger's own guard: the move table and the triggers, made from ``states.NOUNS`` and ``triggers.sql``.

They refuse every change of a guarded row that is not a move of the table (verb, from, to, actor, and the arithmetic of fence,
failures and starts), and write the event of every move that they let pass.  What must exist besides is the table ``MUSTS``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import Template
from typing import Final

from appliance import limits
from appliance.coordination.states import NOUNS
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "triggers.sql")
STANDING: Final = (
    "job_stays",
    "part_stays",
    "split_stays",
    "job_payload",
    "result_enters",
    "result_kept",
    "result_stays",
    "event_stays",
)
TERMS: Final = ("term_grows", "term_stays", "term_entered", "term_moved")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    """How a guarded table calls its key and its fence, when one of its attempts began, and what of it never changes.

    ``moved`` are the columns, besides those that every noun has, that change by a move alone.
    """

    noun: str
    fence: str
    job_id: str
    ordinal: str
    started: str
    fixed: tuple[str, ...]
    moved: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Must:
    """What must exist for a move: ``needs`` has to hold ``when``; ``wrong`` says so.  ``entry``: also for a new row."""

    noun: str
    when: str
    needs: str
    wrong: str
    entry: bool = False


MOVED: Final = ("state", "failures", "starts", "holder", "move", "actor", "cause", "moved_ms", "moves")
TABLES: Final = (
    Noun(
        noun="job",
        fence="attempt",
        job_id="id",
        ordinal="NULL",
        started="NEW.started_ms",
        fixed=("id", "kind", "work_id", "version", "round", "failures_max", "submitted_ms", "parent_id"),
        moved=("cancel_asked_ms", "ended_ms"),
    ),
    Noun(
        noun="part",
        fence="attempt",
        job_id="job_id",
        ordinal="NEW.ordinal",
        started="NEW.started_ms",
        fixed=("job_id", "job_attempt", "ordinal", "kind", "version", "failures_max"),
        moved=("params", "result"),
    ),
    Noun(
        noun="split",
        fence="fence",
        job_id="job_id",
        ordinal="NEW.folded",
        started="NULL",
        fixed=("job_id", "attempt", "kind", "version", "parts", "width", "when_dead", "failures_max"),
        moved=("folded", "carried", "output_fence", "output_bytes"),
    ),
)

FEW_STARTS: Final = f"NEW.starts < {limits.STARTS_WITHOUT_OUTCOME_MAX}"
LEFT: Final = "NEW.failures < NEW.failures_max"

MUSTS: Final = (
    Must(
        noun="job",
        when="NEW.state = 'ready'",
        needs="EXISTS (SELECT 1 FROM may_start WHERE id = NEW.id)",
        wrong="it may not start yet",
        entry=True,
    ),
    Must(
        noun="job",
        when="NEW.state = 'done'",
        needs="EXISTS (SELECT 1 FROM result WHERE job_id = NEW.id AND attempt = NEW.attempt)",
        wrong="no result of this attempt",
    ),
    Must(
        noun="job",
        when="NEW.move = 'split'",
        needs="EXISTS (SELECT 1 FROM split WHERE job_id = NEW.id AND attempt = NEW.attempt)",
        wrong="no split row",
    ),
    Must(
        noun="job",
        when="NEW.move = 'fold'",
        needs="EXISTS (SELECT 1 FROM split WHERE job_id = NEW.id AND attempt = NEW.attempt AND state = 'done' AND folded = parts)",
        wrong="not all parts are folded",
    ),
    Must(noun="job", when="NEW.move = 'retry'", needs=LEFT, wrong="failures are used up"),
    Must(noun="job", when="NEW.move = 'bury'", needs="NEW.failures = NEW.failures_max", wrong="failures are not used up"),
    Must(noun="job", when="NEW.move = 'release'", needs=FEW_STARTS, wrong="started too often without an outcome"),
    Must(noun="job", when="NEW.move = 'stop'", needs="NEW.cancel_asked_ms IS NOT NULL", wrong="nobody asked"),
    Must(noun="job", when="NEW.actor = 'person'", needs="NEW.cause IS NOT NULL", wrong="who decided, and why, is not said"),
    Must(noun="part", when="NEW.move = 'retry'", needs=LEFT, wrong="failures are used up"),
    Must(noun="part", when="NEW.move = 'release'", needs=FEW_STARTS, wrong="started too often without an outcome"),
    Must(noun="split", when="NEW.move = 'finish'", needs="NEW.folded = NEW.parts", wrong="not all parts are folded"),
    Must(noun="split", when="NEW.move = 'retry'", needs=LEFT, wrong="failures are used up"),
    Must(noun="split", when="NEW.move = 'release'", needs=FEW_STARTS, wrong="started too often without an outcome"),
)


def statements() -> list[str]:
    """Everything that a migration makes anew: the move table's rows and all triggers."""
    return [*_rows(), *(trigger for noun in TABLES for trigger in _of(noun)), *(SQL[name] for name in (*STANDING, *TERMS))]


def _rows() -> Iterator[str]:
    for noun, moves in NOUNS.items():
        for move in moves:
            for verb, was, became, actor, attempts, failures, starts in move.cells():
                yield Template(SQL["row"]).substitute(
                    noun=noun, verb=verb, was=was, became=became, actor=actor, attempts=attempts, failures=failures, starts=starts
                )


def _of(noun: Noun) -> Iterator[str]:
    """The five triggers of a guarded table."""
    facts = {"noun": noun.noun, "fence": noun.fence, "job_id": noun.job_id, "ordinal": noun.ordinal, "started": noun.started}
    facts["touched"] = " OR ".join(f"NEW.{column} IS NOT OLD.{column}" for column in (*MOVED, noun.fence, *noun.moved))
    facts["columns"] = ", ".join(noun.fixed)
    facts["changed"] = " OR ".join(f"NEW.{column} IS NOT OLD.{column}" for column in noun.fixed)
    for name in ("enters", "moves", "fixed"):
        yield Template(SQL[name]).substitute(facts)
    for name in ("entered", "moved"):
        musts = [must for must in MUSTS if must.noun == noun.noun and (name == "moved" or must.entry)]
        yield Template(SQL[name]).substitute(facts, musts="\n  ".join(_must(must) for must in musts))


def _must(must: Must) -> str:
    return Template(SQL["must"]).substitute(noun=must.noun, when=must.when, needs=must.needs, wrong=must.wrong)
