"""The turnstile: writers of several processes queue, fairly, and it dies with its holder."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from appliance.clock import SYSTEM
from appliance.store.ledger import Ledger, Place
from appliance.store.turnstile import TurnPage
from tests.ledger.box import found, place
from tests.ledger.forked import Child, forked

LANE = "INSERT INTO lane (lane, at_once_most) VALUES (?, 1)"
Tell = Callable[[str], None]


def made(tmp_path: Path) -> Place:
    """The place of a new ledger that nobody has open: processes are forked now."""
    where = place(tmp_path)
    found(where, SYSTEM).close()
    return where


def stuck(where: Place) -> Callable[[Tell], None]:
    """A writer that says when it is inside, and stays there."""

    def act(tell: Tell) -> None:
        ledger = Ledger(where, SYSTEM, 77)
        with ledger.write() as tx:
            tx.rows(LANE, ("never",))
            tell("inside")
            signal.pause()

    return act


def count(where: Place, names: str) -> int:
    """How many lanes of these names there are, seen by a fresh look."""
    ledger = Ledger(where, SYSTEM, 1)
    ((found_ones,),) = ledger.read("SELECT count(*) FROM lane WHERE lane GLOB ?", (names,))
    ledger.close()
    return int(found_ones)


def test_several_writers_share_evenly(tmp_path: Path) -> None:
    """None starves, however short their transactions and however loaded the box; and no error surfaces."""
    where, each_most = made(tmp_path), 200
    gate, key = os.pipe()

    def act(tell: Tell) -> None:
        ledger = Ledger(where, SYSTEM, os.getpid())
        tell("there")
        os.read(gate, 1)
        while True:
            with ledger.write() as tx:
                ((together,),) = tx.rows("SELECT count(*) FROM lane")
                if together >= 3 * each_most:
                    return
                tx.rows(LANE, (f"{os.getpid()} {together}",))
            tell("committed")

    with ExitStack() as stack:
        children: list[Child] = [stack.enter_context(forked(act)) for _ in range(3)]
        assert [child.line() for child in children] == ["there"] * 3
        os.write(key, b"ggg")
        shares = [len(list(child.lines())) for child in children]
        ends = [os.waitpid(child.pid, 0)[1] for child in children]
    assert ends == [0, 0, 0]
    assert sum(shares) == 3 * each_most == count(where, "*")
    assert min(shares) >= each_most // 2
    os.close(gate)
    os.close(key)


def test_a_holder_that_dies_inside_lets_the_next_one_in(tmp_path: Path) -> None:
    """The kernel opens the turnstile, and nothing of the dead one's transaction is there."""
    where = made(tmp_path)
    with forked(stuck(where)) as child:
        assert child.line() == "inside"
        child.kill()
        ledger = Ledger(where, SYSTEM, 1)
        with ledger.write() as tx:
            tx.rows(LANE, ("next",))
        ledger.close()
    assert (count(where, "never"), count(where, "next")) == (0, 1)


def test_the_page_says_who_is_inside_and_since_when(tmp_path: Path) -> None:
    """Also of one that is stopped; reads do not wait for it."""
    where = made(tmp_path)
    page, before = TurnPage(where.runtime), SYSTEM.boot()
    assert page.held() is None
    with forked(stuck(where)) as child:
        assert child.line() == "inside"
        os.kill(child.pid, signal.SIGSTOP)
        held = page.held()
        assert held is not None
        assert (held.pid, held.start_ticks) == (child.pid, 77)
        assert before <= held.since <= SYSTEM.boot()
        assert count(where, "*") == 0
        assert page.held() == held
        child.kill()
    page.close()


def test_a_holder_that_died_inside_is_not_taken_for_one_that_holds(tmp_path: Path) -> None:
    """Its entry stays on the page until the next one comes in."""
    where = made(tmp_path)
    page = TurnPage(where.runtime)
    with forked(stuck(where)) as child:
        assert child.line() == "inside"
        assert page.held() is not None
        child.kill()
    assert page.held() is None
    page.close()


def waiting(where: Place) -> Callable[[Tell], None]:
    """A writer that says when it is about to wait."""

    def act(tell: Tell) -> None:
        ledger = Ledger(where, SYSTEM, 88)
        tell("there")
        with ledger.write() as tx:
            tx.rows(LANE, ("second",))

    return act


def test_a_writer_that_is_stopped_at_the_door_is_seen_and_its_death_opens_it(tmp_path: Path) -> None:
    """It is not inside, and keeps all others waiting: the page says so once nobody else does."""
    where = made(tmp_path)
    page = TurnPage(where.runtime)
    with ExitStack() as stack:
        first = stack.enter_context(forked(stuck_until_told(where)))
        assert first.line() == "inside"
        second = stack.enter_context(forked(waiting(where)))
        assert second.line() == "there"
        deadline = SYSTEM.boot() + 10_000
        while page.at_door() is None:
            assert SYSTEM.boot() < deadline
        os.kill(second.pid, signal.SIGSTOP)
        os.waitpid(second.pid, os.WUNTRACED)
        os.kill(first.pid, signal.SIGUSR1)
        assert first.line() == "committed"
        held = page.held()
        assert held is not None
        assert (held.pid, held.start_ticks) == (second.pid, 88)
        second.kill()
        ledger = Ledger(where, SYSTEM, 1)
        with ledger.write() as tx:
            tx.rows(LANE, ("third",))
        ledger.close()
    assert [count(where, name) for name in ("first", "second", "third")] == [1, 0, 1]
    assert page.held() is None
    page.close()


def test_each_turn_has_a_ticket_of_its_own(tmp_path: Path) -> None:
    """So a holder that is busy is told from one that is frozen."""
    ledger = Ledger(made(tmp_path), SYSTEM, 5)
    tickets = []
    for name in "abc":
        with ledger.write() as tx:
            tx.rows(LANE, (name,))
            held = ledger._page.held()  # noqa: SLF001 - who is inside
            assert held is not None
            tickets.append(held.ticket)
        assert ledger._page.held() is None  # noqa: SLF001 - nobody any more
    assert tickets == list(range(tickets[0], tickets[0] + 3))
    ledger.close()


def test_a_writer_waits_while_another_is_inside(tmp_path: Path) -> None:
    """It comes in when the other has committed, and sees what it wrote."""
    where = made(tmp_path)

    def act(tell: Tell) -> None:
        ledger = Ledger(where, SYSTEM, 9)
        tell("there")
        with ledger.write() as tx:
            tell(str(tx.rows("SELECT count(*) FROM lane")[0][0]))

    ledger_open = stuck_until_told(where)
    with forked(ledger_open) as first:
        assert first.line() == "inside"
        with forked(act) as second:
            assert second.line() == "there"
            os.kill(first.pid, signal.SIGUSR1)
            assert second.line() == "1"
            assert first.line() == "committed"


def stuck_until_told(where: Place) -> Callable[[Tell], None]:
    """A writer that stays inside until it gets a signal, and then commits."""

    def act(tell: Tell) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        ledger = Ledger(where, SYSTEM, 77)
        with ledger.write() as tx:
            tx.rows(LANE, ("first",))
            tell("inside")
            signal.sigwait([signal.SIGUSR1])
        tell("committed")

    return act
