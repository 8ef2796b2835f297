"""``docs/failures.md`` loses no report and names no test that is not there.

The reports stand here as ``owner/name#issue`` and ``owner/name!pull``, section by section, so that the page cannot lose one unseen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from tests.house import tree
from tests.house.tree import Breach, Source

PAGE: Final = "docs/failures.md"
HEAD: Final = ["report", "what went wrong there", "what keeps it from happening here", "shown by"]
LINK: Final = re.compile(r"\[[^\]]+\]\(https://github\.com/([\w.-]+/[\w.-]+)/(issues|pull)/(\d+)\)")
PLACE: Final = re.compile(r"`((?:runtime|coordination|store|site)/(?:\w+/)?\w+\.py)`")
NAMED: Final = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
REPORTS: Final = {
    "Locking and the single writer": """
        rails/solid_queue#385 blehnen/DotNetWorkQueue#328 blehnen/DotNetWorkQueue#294 getmydia/mydia#283 riverqueue/river!913
        rails/solid_queue#309 rails/solid_queue#133 coleifer/huey#445 coleifer/huey#535 meeb/tubesync#1162 meeb/tubesync#1222
        dstackai/dstack#825 os-autoinst/openQA!4931
    """,
    "The SQLite file itself": """
        benbjohnson/litestream#1432 NousResearch/hermes-agent#69784 aaif-goose/goose!11157 Gentleman-Programming/engram#1303
        tox-dev/filelock!657 gentoo/portage!600 graphnet-team/graphnet!243 uber/petastorm!162 sparklemotion/sqlite3-ruby#129
        plasticityai/magnitude#39 russellromney/honker#80 bensheldon/good_job#1797 piskvorky/sqlitedict#149
        WordPress/sqlite-database-integration!483 smabe/end-of-line#113 superseriousbusiness/gotosocial#2808 BYK/loreai#1221
        Kpa-clawbot/CoreScope#1434 DeusData/codebase-memory-mcp!1137 openclaw/openclaw#155636 openai/codex#28997
        ohdearquant/khive#1846 ohdearquant/khive#1876 vjt/grappa-irc#2287 stellar/stellar-core!2040 n8n-io/n8n#37926
        status-im/nimbus-eth1#1095 buildbot/buildbot#5443 casualcore/casual#742 athrvk/vayu#990 tinyhumansai/openhuman!3911
        peter-wangxu/persist-queue#107 yigit/android-priority-jobqueue#378 strongloop/strong-pm#368
        flux-framework/flux-core#609 flux-framework/flux-core#1038 flux-framework/flux-core#6169 FoxxMD/multi-scrobbler#653
        dannyvfilms/Floppy#909 pi-hole/pi-hole#1839 Yadoms/yadoms#581 adobe/aepsdk-core-ios!1222 getsentry/taskbroker!586
    """,
    "Run twice, or the wrong result wins": """
        riverqueue/river#1302 riverqueue/river!1373 aegra/aegra!547 brendanlong/lion-reader!917 blehnen/DotNetWorkQueue!335
        blehnen/DotNetWorkQueue#336 russellromney/honker#65 rails/solid_queue#589 rails/solid_queue!761 rails/solid_queue#689
        rails/solid_queue#735 rails/solid_queue#456 rails/solid_queue#476 oban-bg/oban#1141 hexpm/hexpm#1825
        dbos-inc/dbos-transact-py#742 OptimalBits/bull#1416 OptimalBits/bull#308 taskforcesh/bullmq#489 taskforcesh/bullmq#596
        taskforcesh/bullmq#3183 celery/celery#5935 celery/celery#2481 celery/celery#3312 dask/distributed#6324
        agno-agi/agno!9512 BenchBox-dev/BenchBox!2225
    """,
    "Supervision": """
        benoitc/gunicorn#2504 benoitc/gunicorn#2485 Supervisor/supervisor!199 Supervisor/supervisor#487
        Supervisor/supervisor#1285 circus-tent/circus#1157 circus-tent/circus#814 Kludex/uvicorn#2506 systemd/systemd!13843
        systemd/systemd#43813 FootprintAI/Containarium!1233 home-assistant/addons#3439 golang/go#27505 python/cpython#130442
        systemd/systemd#43439
    """,
}


def sections(page: str) -> Iterator[tuple[str, int, list[str]]]:
    """Title, number of its first line, and lines of each section."""
    lines = page.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start].removeprefix("## "), start + 2, lines[start + 1 : end]


def cells(line: str) -> list[str]:
    """The cells of a row; a bar inside a code span would end one, so there is none."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def misshapen(page: str) -> Iterator[Breach]:
    """The sections that are not one table of four full columns, and the rows that name neither a report nor a test."""
    for _, first, lines in sections(page):
        rows = [(first + number, line) for number, line in enumerate(lines) if line.strip()]
        if [cells(line) for _, line in rows[:2]] != [HEAD, ["---"] * len(HEAD)]:
            yield Breach(PAGE, first, f"a section is one table with the columns {', '.join(HEAD)}")
        for number, line in rows[2:]:
            found = cells(line)
            if len(found) != len(HEAD) or not all(found) or not line.startswith("|") or not line.endswith("|"):
                yield Breach(PAGE, number, "a row has four cells, and none of them is empty")
            elif not NAMED.search(found[3]):
                yield Breach(PAGE, number, "a row names a test")


def lost(page: str, expected: Mapping[str, str]) -> Iterator[Breach]:
    """The reports that a section should have and has not, or has and should not; each stands once."""
    found = {title: [_id(*link) for link in LINK.findall("\n".join(lines))] for title, _, lines in sections(page)}
    for title in {**expected, **found}:
        wanted, there = expected.get(title, "").split(), found.get(title, [])
        for each in sorted({*wanted, *there}):
            if wanted.count(each) != 1 or there.count(each) != 1:
                yield Breach(PAGE, 1, f"{title}: {each} is expected {wanted.count(each)} times and there {there.count(each)} times")


def _id(repository: str, kind: str, number: str) -> str:
    return repository + ("#" if kind == "issues" else "!") + number


def unknown(page: str, tests: Mapping[str, set[str]]) -> Iterator[Breach]:
    """The tests that the page names and the tree does not have."""
    for number, line in enumerate(page.splitlines(), start=1):
        for path, name in NAMED.findall(line):
            if name not in tests.get(f"tests/{path}", set()):
                yield Breach(PAGE, number, f"there is no test {name} in tests/{path}")


def nowhere(page: str, paths: Collection[str]) -> Iterator[Breach]:
    """The files of the product that the page names as the place of an invariant, and that are not there."""
    for number, line in enumerate(page.splitlines(), start=1):
        for path in PLACE.findall(line):
            if f"appliance/{path}" not in paths:
                yield Breach(PAGE, number, f"there is no file appliance/{path}")


def names_by_file(sources: list[Source]) -> dict[str, set[str]]:
    """The names of the tests of each file."""
    return {
        source.path: {each.name for each in tree.definitions(ast.parse(source.text)) if each.name.startswith("test_")}
        for source in sources
    }


def page() -> str:
    """The page as it stands."""
    return (tree.ROOT / PAGE).read_text(encoding="utf-8")


def test_every_report_has_its_place_on_the_page() -> None:
    """Whoever takes a row out must take the report out here as well, and say why."""
    tree.hold("reports", lost(page(), REPORTS))


def test_every_test_that_the_page_names_is_there() -> None:
    """A test that was renamed or taken away covers nothing."""
    tree.hold("named tests", unknown(page(), names_by_file(tree.sources("tests"))))


def test_every_place_that_the_page_names_is_there() -> None:
    """An invariant whose file is gone is kept by nobody."""
    tree.hold("named places", nowhere(page(), {source.path for source in tree.sources("appliance")}))


def test_the_page_is_tables_of_four_full_columns() -> None:
    """A row that says nothing of how it is kept, or of what shows it, is a wish."""
    tree.hold("rows of failures", misshapen(page()))


ROW = "| [a 1](https://github.com/o/a/issues/1) | It fell. | It cannot. | `unit/test_a.py::test_it` |"
GOOD = f"## Falling\n\n| {' | '.join(HEAD)} |\n|---|---|---|---|\n{ROW}\n"


def test_a_good_page_is_let_through() -> None:
    """The smallest one."""
    assert not [*misshapen(GOOD), *lost(GOOD, {"Falling": "o/a#1"}), *unknown(GOOD, {"tests/unit/test_a.py": {"test_it"}})]


def test_a_lost_or_unexpected_report_is_seen() -> None:
    """In its own section; a pull request is not the issue of the same number."""
    for expected in ({"Falling": "o/a#1 o/a#2"}, {"Falling": ""}, {"Rising": "o/a#1"}, {"Falling": "o/a!1"}):
        assert list(lost(GOOD, expected))
    assert list(lost(GOOD + ROW, {"Falling": "o/a#1"}))


def test_a_test_that_is_not_there_is_seen() -> None:
    """Neither the file nor the name alone is enough."""
    for tests in ({}, {"tests/unit/test_a.py": {"test_that"}}, {"tests/unit/test_b.py": {"test_it"}}):
        assert list(unknown(GOOD, tests))


def test_a_place_that_is_not_there_is_seen() -> None:
    """Named in any cell."""
    assert list(nowhere("| a | b | kept by `runtime/gone.py` | d |", {"appliance/runtime/here.py"}))
    assert not list(nowhere("| a | b | kept by `runtime/here.py` | d |", {"appliance/runtime/here.py"}))


def test_a_row_with_a_gap_is_seen() -> None:
    """An empty cell, a cell too few, no test, no head."""
    for bad in (
        GOOD.replace("It cannot.", ""),
        GOOD.replace("| It fell. ", ""),
        GOOD.replace("::test_it", ""),
        f"## Falling\n{ROW}",
    ):
        assert list(misshapen(bad))
