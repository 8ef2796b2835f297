"""Films through the real appliance: the same bytes from one, two and four workers, and whoever is killed on the way (P7)."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from appliance.clock import SYSTEM, BootInstant
from appliance.coordination import history, queue
from appliance.coordination.work import Submission
from appliance.store.ledger import Ledger
from tests.crash.appliance_stage import Appliance, appliance, hands
from tests.crash.facts import until
from tests.media import films
from tests.media.conftest import Film

KIND = "media.qc"
KILLS = 30
SECONDS = 240.0
SETTINGS = """
[pools.media]
workers = {workers}
isolated = true
[pools.default]
workers = 1
[stop]
seconds = 5
[restarts]
most_seconds = 1
"""


@dataclass(frozen=True, slots=True)
class Bytes:
    """What a film came to: the state of its job, and the digests of report and frame data."""

    state: str
    report: str
    frames: str


def submit(stage: Appliance, paths: Sequence[Path], *, again: bool = False) -> list[int]:
    """Hand the films in, in their order."""
    asked = [Submission(kind=KIND, payload={"path": str(path)}, work_id=path.name, again=again) for path in paths]
    with stage.ledger() as ledger, ledger.write() as tx:
        return [answer.id for answer in queue.submit(tx, asked)]


def outcome(stage: Appliance, id_: int) -> Bytes:
    """What an ended job came to."""
    with stage.ledger() as ledger:
        state = history.state(ledger, id_)
        found = {place.name.partition(".")[0]: place.sha256 for place in history.files(ledger, id_)}
    return Bytes(state, found.get("report", ""), found.get("output", ""))


def outcomes(stage: Appliance, ids: Sequence[int]) -> list[Bytes]:
    """What all of these came to, once they have ended."""
    stage.ended(*ids, seconds=SECONDS)
    return [outcome(stage, id_) for id_ in ids]


@contextmanager
def stage(folder: Path, workers: int) -> Iterator[Appliance]:
    """An appliance with so many workers for films."""
    with appliance(folder, SETTINGS.format(workers=workers)) as found:
        yield found


@pytest.fixture(scope="module")
def paths(film: Film, samples: list[Path]) -> list[Path]:
    """Films of all kinds, damaged ones too, and real ones."""
    return [*(film(name) for name in films.ALL if name not in films.LONG_ONLY), *samples]


@pytest.fixture(scope="module")
def reference(paths: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Bytes]:
    """What one worker makes of each film."""
    with stage(tmp_path_factory.mktemp("one"), 1) as one:
        return outcomes(one, submit(one, paths))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("workers", [2, 4])
def test_p7_any_number_of_workers_gives_the_same_bytes(
    workers: int, paths: list[Path], reference: list[Bytes], tmp_path: Path
) -> None:
    """Reports and frame data of all films are those of one worker."""
    with stage(tmp_path, workers) as several:
        found = outcomes(several, submit(several, paths))
    assert dict(zip(paths, found, strict=True)) == dict(zip(paths, reference, strict=True))
    assert sum(each.state == "done" for each in found) >= 20


def victim(found: Appliance, chance: random.Random) -> int | None:
    """A process to kill: a worker, a hand, the steward, or now and then the supervisor."""
    assert found.process is not None
    children = list(found.pids().values())
    groups = [children, [hand for child in children for hand in hands(child)], [found.process.pid]]
    (group,) = chance.choices(groups, [5, 5, 1])
    return chance.choice(group) if group else None


def kill_one(found: Appliance, chance: random.Random) -> bool:
    """Kill -9 a process; after the supervisor's end start another.  Whether anybody was there to be killed."""
    assert found.process is not None
    pid = victim(found, chance)
    if pid is None:
        return False
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    if pid == found.process.pid:
        found.process.wait(5)
        until(lambda: len(found.members()) == 0, seconds=2, what="the end of the processes without a supervisor")
        found.start()
    return True


def gap_ms(found: Appliance, ids: Sequence[int]) -> float:
    """Three times the median time that a part took so far."""
    events = [event for id_ in ids for event in found.events(id_) if event.noun == "part" and event.move == "finish"]
    took = [event.at - event.started for event in events if event.started is not None]
    return 3.0 * sorted(took)[len(took) // 2] if took else 1_000.0


def storm(found: Appliance, ids: Sequence[int], kills: int, seed: int) -> int:
    """Kill at random gaps while these jobs are at work; how often, by the end of the last of them."""
    chance, done = random.Random(seed), 0
    with found.ledger() as ledger:
        while done < kills:
            pause_ms = chance.uniform(0, 2 * gap_ms(found, ids))
            end = SYSTEM.boot() + int(pause_ms)
            until(partial(_time_or_end, ledger, ids, end), seconds=60, what="the next kill")
            if _ended(ledger, ids):
                break
            done += kill_one(found, chance)
    return done


def _time_or_end(ledger: Ledger, ids: Sequence[int], end: BootInstant) -> bool:
    return SYSTEM.boot() >= end or _ended(ledger, ids)


def _ended(ledger: Ledger, ids: Sequence[int]) -> bool:
    return all(history.ended(ledger, [id_]).get(id_) for id_ in ids)


@pytest.mark.crash
@pytest.mark.timeout(300)
def test_p7_kills_of_anybody_leave_the_same_bytes(paths: list[Path], reference: list[Bytes], tmp_path: Path) -> None:
    """Thirty workers, hands, stewards and supervisors die at random; reports and frame data are as if nobody had."""
    with stage(tmp_path, 2) as stormy:
        ids = submit(stormy, paths)
        kills = storm(stormy, ids, KILLS, seed=1)
        found = outcomes(stormy, ids)
    assert kills == KILLS
    assert dict(zip(paths, found, strict=True)) == dict(zip(paths, reference, strict=True))


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", films.ALL)
def test_p7_thirty_kills_over_one_film_leave_the_same_bytes(name: str, film: Film, tmp_path: Path) -> None:
    """Each film by itself, measured again until thirty processes have died over it."""
    path, kills, rounds = film(name), 0, 0
    with stage(tmp_path, 2) as stormy:
        (quiet,) = outcomes(stormy, submit(stormy, [path]))
        while kills < KILLS:
            ids = submit(stormy, [path], again=True)
            kills += storm(stormy, ids, KILLS - kills, seed=rounds)
            rounds += 1
            assert outcomes(stormy, ids) == [quiet]
