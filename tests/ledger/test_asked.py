"""The looks at work that somebody asked to cancel, and at what a gathering leaves behind: ``leases.sql`` and ``splits.sql``."""

from __future__ import annotations

from appliance.coordination import decisions, leases, splits
from appliance.coordination.outcomes import Done, Split
from appliance.coordination.work import FilePlace, JobId
from tests.ledger.box import ANNA, BERT, WHO, Box
from tests.ledger.gathering import fold, gather, parts


def cancel(box: Box, id_: JobId) -> None:
    """Somebody asks."""
    with box.ledger.write() as tx:
        assert decisions.cancel(tx, id_, WHO) == "asked"


def test_whether_anything_is_asked_is_seen_without_a_turn(box: Box) -> None:
    """While it goes on, and no longer."""
    claimed = box.lease()
    assert not leases.any_asked(box.ledger)
    cancel(box, claimed.lease.id)
    assert leases.any_asked(box.ledger)
    assert not splits.any_asked(box.ledger)
    box.hand_in(claimed, Done())
    assert not leases.any_asked(box.ledger)


def test_a_gathering_that_is_asked_to_end_is_seen(box: Box) -> None:
    """With everybody who works on its parts and its fold."""
    id_ = gather(box)
    open_ones = parts(box)
    box.hand_in(open_ones[0], Done(0))
    fold(box)
    cancel(box, id_)
    assert splits.any_asked(box.ledger)
    with box.ledger.write() as tx:
        assert splits.at_work_on_asked(tx) == [(ANNA, id_)]
        splits.stop_asked(tx)
        assert "ask" in tx.topics  # who claimed after the asking looks once more
        assert splits.at_work_on_asked(tx) == []
    assert not splits.any_asked(box.ledger)


def test_a_part_whose_job_was_cancelled_is_known_to_its_holder(box: Box) -> None:
    """Also when its row is gone already."""
    id_ = gather(box)
    claimed = parts(box)[0]
    assert leases.asked_now(box.ledger, ANNA, claimed.lease) == set()
    cancel(box, id_)
    assert leases.asked_now(box.ledger, ANNA, None) == {(id_, 1)}
    with box.ledger.write() as tx:
        splits.stop_asked(tx)
    assert leases.asked_now(box.ledger, ANNA, claimed.lease) == {(id_, 1)}
    assert leases.asked_now(box.ledger, ANNA, None) == set()


def test_whoever_ignores_an_ask_is_found_after_a_while(box: Box) -> None:
    """Holders of jobs and of parts, by when it was asked."""
    claimed = box.lease(holder=BERT)
    id_ = gather(box)
    parts(box)
    cancel(box, claimed.lease.id)
    box.dial.pass_ms(100)
    cancel(box, id_)
    now = box.ledger.clock.ledger()
    assert leases.ignored(box.ledger, now - 101) == []
    assert leases.ignored(box.ledger, now - 100) == [BERT]
    assert set(leases.ignored(box.ledger, now)) == {ANNA, BERT}


def test_the_files_of_an_attempt_at_work_are_not_judged(box: Box) -> None:
    """They may be written and have no row yet; those of an ended one are what its rows name."""
    claimed = box.lease("film")
    assert splits.named_files(box.ledger, claimed.lease.id, 1) is None
    box.hand_in(claimed, Split(count=1, window=1))
    assert splits.named_files(box.ledger, claimed.lease.id, 1) is None
    other = box.lease("noop")
    kept = FilePlace(id=other.lease.id, attempt=1, ordinal=-1, part_attempt=1, name="a", size_bytes=1, sha256="0" * 64)
    box.hand_in(other, Done(), (kept,))
    named = splits.named_files(box.ledger, other.lease.id, 1)
    assert named is not None
    assert len(named) == 1
    assert splits.named_files(box.ledger, other.lease.id, 2) == set()


def test_the_progress_of_what_is_no_split_is_none(box: Box) -> None:
    """A miss is an answer."""
    assert splits.progress(box.ledger, box.submit().id) is None
    assert splits.progress(box.ledger, gather(box)) == (4, 0, 0)
