"""Every statement compiles, finds its rows by an index, and moves a row only where its state and its fence still stand.

A statement begins with ``-- name: verb``.  Comment lines below may say ``-- scan: why`` (its plan may read a whole table) and
``-- unfenced: why`` (nobody holds what it moves, so there is no fence to name).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import apsw
import apsw.ext
import pytest

from appliance.store import statements
from tests.house import tree
from tests.house.tree import Breach, Source

MADE_ELSEWHERE = ("appliance/store/migrations/", "appliance/coordination/triggers.sql")  # compiled when a ledger is migrated
OF_LIVE = ("appliance/coordination/processes.sql",)  # these are for live.db, all others for the ledger
MAY_HOLD_SQL = "appliance/store/"
FENCES = {"job": "attempt", "part": "attempt", "split": "fence"}

IN_PYTHON = re.compile(
    r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|BEGIN|DROP|ALTER|WITH|REPLACE|VACUUM|ATTACH)\b"
    r"|\s*(?i:select\b.+\bfrom|insert\s+(?:or\s+\w+\s+)?into|update\s+\w+\s+set|delete\s+from|drop\s+(?:table|index|trigger|view)"
    r"|create\s+(?:temp\w*\s+)?(?:unique\s+)?(?:table|index|trigger|view)|pragma\s+\w+|begin\s+(?:immediate|deferred|exclusive))\b",
    re.DOTALL,
)
COMMENT = re.compile(r"--[^\n]*")
CTE = re.compile(r"\b(\w+)(?:\s*\([^()]*\))?\s+AS\s+(?:NOT\s+)?(?:MATERIALIZED\s*)?\(", re.IGNORECASE)
SCAN = re.compile(r"SCAN (\w+)(?! VIRTUAL TABLE)\b")
EXCUSED_SCAN = re.compile(r"^-- scan: \S", re.MULTILINE)
UNFENCED = re.compile(r"^-- unfenced: \S", re.MULTILINE)


def sql_in_python(source: Source) -> Iterator[Breach]:
    """The strings of a file that are statements."""
    for line, text in tree.strings(ast.parse(source.text)):
        if IN_PYTHON.match(text):
            yield Breach(
                source.path, line, f"a statement stands in Python, and not beside its noun in a .sql file: {text.strip()[:40]}"
            )


def named_statements() -> dict[str, str]:
    """Every statement of the product by ``file:name``."""
    found: dict[str, str] = {}
    for source in tree.sources("appliance", suffix=".sql"):
        if not source.path.startswith(MADE_ELSEWHERE):
            path = PurePosixPath(source.path)
            loaded = statements.load(".".join(path.parent.parts), path.name)
            found |= {f"{source.path}:{name}": sql for name, sql in loaded.items()}
    return found


def inspect(ledger: apsw.Connection, sql: str) -> apsw.ext.QueryDetails:
    """What the engine makes of a statement, without running it."""
    return apsw.ext.query_info(ledger, sql, explain_query_plan=True)


def details(plan: apsw.ext.QueryPlan | None) -> Iterator[str]:
    """The lines of a query plan, from the top."""
    if plan is not None:
        yield plan.detail
        for step in plan.sub or ():
            yield from details(step)


def scans(ledger: apsw.Connection, sql: str) -> list[str]:
    """The steps of a statement's plan that read a whole table or index; rows that it made itself and values handed in are free."""
    made_here = {name.lower() for name in CTE.findall(sql)}
    steps = details(inspect(ledger, sql).query_plan)
    return [step for step in steps if (match := SCAN.match(step)) and match[1] != "CONSTANT" and match[1].lower() not in made_here]


def top_level(sql: str) -> str:
    """A statement without comments, strings, and all that stands in brackets: only its own clauses remain."""
    text = re.sub(r"'[^']*'", "''", COMMENT.sub("", sql))
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return text


def unguarded(name: str, sql: str) -> Iterator[Breach]:
    """What is missing from the ``WHERE`` of a statement that moves a job, a part or a split."""
    clauses = re.search(
        r"\bUPDATE\s+(\w+)\b.*?\bSET\b(.*?)(?:\bWHERE\b(.*?))?(?:\bRETURNING\b|;|$)", top_level(sql), re.DOTALL | re.IGNORECASE
    )
    if clauses is None or clauses[1] not in FENCES or not re.search(r"(?:^|,)\s*(?:state|move)\s*=", clauses[2]):
        return
    guard, fence = clauses[3] or "", FENCES[clauses[1]]
    path = name.split(":", maxsplit=1)[0]
    if not re.search(r"\bstate\b", guard):
        yield Breach(path, 1, f"{name} moves a {clauses[1]} without naming its state in the WHERE")
    if not re.search(rf"\b{fence}\b", guard) and not UNFENCED.search(sql):
        yield Breach(
            path, 1, f"{name} moves a {clauses[1]} without naming its {fence} in the WHERE, and without `-- unfenced: why`"
        )


def test_statements_stand_beside_their_noun() -> None:
    """A statement in a string is seen by no law but this one."""
    files = [source for source in tree.sources("appliance") if not source.path.startswith(MAY_HOLD_SQL)]
    tree.hold("sql in python", (breach for source in files for breach in sql_in_python(source)))


@pytest.mark.parametrize("name", named_statements())
def test_a_statement_compiles_and_is_one(ledger: apsw.Connection, live: apsw.Connection, name: str) -> None:
    """Against the schema of its own database."""
    database = live if name.startswith(OF_LIVE) else ledger
    assert not (inspect(database, named_statements()[name]).query_remaining or "").strip()


@pytest.mark.parametrize("name", named_statements())
def test_a_statement_finds_its_rows_by_an_index(ledger: apsw.Connection, live: apsw.Connection, name: str) -> None:
    """However many rows wait or are finished, the statement costs the same; a scan says why it may be one."""
    sql = named_statements()[name]
    found = scans(live if name.startswith(OF_LIVE) else ledger, sql)
    if EXCUSED_SCAN.search(sql):
        assert found, "the statement says why it may scan, and does not"
    else:
        assert not found, "an index is missing, or a line `-- scan: why`"


def test_every_statement_is_used() -> None:
    """One that nobody asks for is a rule that nobody follows."""
    asked = {text for source in tree.sources("appliance") for _, text in tree.strings(ast.parse(source.text))}
    idle = [name for name in named_statements() if name.split(":")[1] not in asked]
    assert not idle


def test_a_statement_moves_only_what_still_stands_as_it_knew_it() -> None:
    """A late worker's write finds no row: the rule is in the WHERE."""
    tree.hold("guards", (breach for name, sql in named_statements().items() for breach in unguarded(name, sql)))


@pytest.mark.parametrize(
    "text",
    [
        "ROWS = 'SELECT 1'",
        'sql = f"UPDATE job SET state = {state}"',
        "run('''\n  insert into job values (1)''')",
        "sql = 'select id from job'",
        "run('begin immediate')",
    ],
)
def test_a_statement_in_python_is_seen(text: str) -> None:
    """In upper and lower case, whole and put together."""
    assert len(list(sql_in_python(Source("appliance/cli/jobs.py", text)))) == 1


@pytest.mark.parametrize(
    "text", ['"""SELECT in a docstring."""', "help = 'select a job'", "help = 'Create the folder'", "verb = 'update'"]
)
def test_a_sentence_is_not_taken_for_a_statement(text: str) -> None:
    """Words of English that are words of SQL."""
    assert not list(sql_in_python(Source("appliance/cli/jobs.py", text)))


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM job", "SELECT id FROM job WHERE error_text = :text", "DELETE FROM event WHERE at_ms < :at_ms"]
)
def test_a_scan_is_seen(ledger: apsw.Connection, sql: str) -> None:
    """One bad example of each kind."""
    assert scans(ledger, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM job WHERE id = :id",
        "WITH few AS MATERIALIZED (SELECT id FROM job WHERE id < 9) SELECT * FROM few",
        "SELECT value FROM json_each(:names)",
        "SELECT 1",
    ],
)
def test_a_search_is_not_taken_for_a_scan(ledger: apsw.Connection, sql: str) -> None:
    """Nor are rows that the statement made itself, or values handed in."""
    assert not scans(ledger, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE job SET state = 'done' WHERE id = :id AND attempt = :attempt RETURNING id",
        "UPDATE job SET state = 'done' WHERE id = :id AND state = 'leased'",
        "UPDATE split SET state = 'done' WHERE job_id = :id AND attempt = :attempt AND state = 'leased'",
        "UPDATE job SET cause = 'x', move = 'ask' WHERE id = :id -- state, attempt",
        "UPDATE job SET state = 'done' WHERE id IN (SELECT id FROM job WHERE state = 'leased' AND attempt = 1)",
    ],
)
def test_an_unguarded_move_is_seen(sql: str) -> None:
    """Named in a comment or in a query inside does not count: the row may have moved since."""
    assert list(unguarded("appliance/coordination/queue.sql:finish", sql))


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE job SET state = 'done' WHERE id = :id AND state = 'leased' AND attempt = :attempt RETURNING id",
        "-- unfenced: nobody holds it\nUPDATE job SET state = 'ready' WHERE id = :id AND state = 'planned'",
        "UPDATE split SET state = 'done' WHERE job_id = :id AND state = 'leased' AND fence = :fence",
        "UPDATE term SET number = number + 1 WHERE name = :name",
        "SELECT state FROM job",
    ],
)
def test_a_guarded_move_is_let_through(sql: str) -> None:
    """And so is what moves nothing."""
    assert not list(unguarded("appliance/coordination/queue.sql:finish", sql))
