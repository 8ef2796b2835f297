"""Damaged, cut, lying and hostile films end in findings or in a refusal by name."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from appliance import Context, Done, Reject, Split
from appliance.pipelines.media import handlers
from appliance.pipelines.media.refusals import REMEDIES
from tests.media import films
from tests.media.conftest import Film, Measured
from tests.media.driver import Outcome, drive
from tests.media.test_exact import report_of

pytestmark = pytest.mark.media

FINDINGS = {
    "truncated_h264_closed.mp4": "container.complete",
    "truncated_mpeg2_open.mxf": "container.complete",
    "truncated_h264_vfr.mkv": "container.complete",
    "truncated_h264_open.ts": "container.complete",
    "lost_h264_open.ts": "container.whole",
    "h264_glued.ts": "timestamps.backward",
    "size_change.ts": "picture.change",
    "mpeg2_leading.ts": "decode.start",
    "damaged_h264_open.ts": "decode.pictures",
    "damaged_av1.mkv": "decode.errors",
    "damaged_mpeg2_open.mxf": "decode.pictures",
    "damaged_mpeg4.avi": "decode.pictures",
}
Y4M_LARGE = b"YUV4MPEG2 W20000 H10 F25:1 Ip A1:1 C420jpeg\n" + (b"FRAME\n" + bytes(300_000)) * 2
PLAYLIST = b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfilm.ts\n#EXT-X-ENDLIST\n"
CONCAT = b"ffconcat version 1.0\nfile 'film.ts'\n"
WAV = b"RIFF\x24\x80\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\x80\0\0" + bytes(32768)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
)
REFUSED = {
    "empty": b"",
    "not-media": random.Random(1).randbytes(200_000),
    "too-large-picture": Y4M_LARGE,
}
NOT_MEDIA = {
    "text": b"I am a film.\n" * 1000,
    "zeros": bytes(1 << 20),
    "playlist": PLAYLIST,
    "concat": CONCAT,
    "wave": WAV,
    "png": PNG,
}


def driven(path: Path) -> Outcome | Reject:
    """The outcome of a film at a path."""
    return drive(handlers.qc, {"path": str(path)})


def reason(outcome: Outcome | Reject) -> str:
    """The name of a refusal; raises ``AssertionError`` if it was none."""
    assert isinstance(outcome, Reject)
    return outcome.what.split(":")[0]


@pytest.mark.parametrize(("name", "test"), FINDINGS.items())
def test_damage_is_a_finding(name: str, test: str, measured: Measured) -> None:
    """The test that is named after it does not pass."""
    report = report_of(measured(name))
    answers = {answer["id"]: answer["status"] for answer in report["tests"]}
    assert answers[test] in ("warn", "fail")
    assert report["verdict"] in ("warn", "fail")


def test_a_wrap_of_the_clock_is_listed_and_legal(measured: Measured) -> None:
    """33 bits at 90 kHz are over after 26 and a half hours."""
    report = report_of(measured("h264_wrap.ts"))
    assert report["timestamps"]["wrapped"]["packets"] == 1
    assert {answer["id"]: answer["status"] for answer in report["tests"]}["timestamps.wrapped"] == "pass"


@pytest.mark.parametrize(("name", "data"), REFUSED.items())
def test_what_is_no_film_is_refused_by_name(name: str, data: bytes, tmp_path: Path) -> None:
    """Whatever it calls itself."""
    (tmp_path / "film.mp4").write_bytes(data)
    assert reason(driven(tmp_path / "film.mp4")) == name


@pytest.mark.parametrize(("name", "data"), NOT_MEDIA.items())
def test_a_file_that_lies_about_itself_opens_nothing_else(name: str, data: bytes, tmp_path: Path, film: Film) -> None:
    """A playlist beside a real film is not followed to it; an image or a sound is no film."""
    shutil.copy(film("small.ts"), tmp_path / "film.ts")
    (tmp_path / f"{name}.mp4").write_bytes(data)
    assert reason(driven(tmp_path / f"{name}.mp4")) == "not-media"


def test_a_film_without_pictures_is_refused(film: Film, tmp_path: Path) -> None:
    """Sound alone, in a container that could hold a film."""
    films.make(films.Recipe("sound.mkv", command="-map 0:a -c:a copy"), film("h264_closed.mp4"), tmp_path / "sound.mkv")
    assert reason(driven(tmp_path / "sound.mkv")) == "no-video"


def test_a_film_of_which_only_the_head_came_is_refused(film: Film, tmp_path: Path) -> None:
    """All is promised, nothing is there."""
    data = film("h264_closed.mp4").read_bytes()
    (tmp_path / "head.mp4").write_bytes(data[: data.index(b"mdat") + 4])
    assert reason(driven(tmp_path / "head.mp4")) == "no-packets"


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    """Not a folder, not a pipe that would never end, not a name that FFmpeg would take for an address."""
    os.mkfifo(tmp_path / "pipe")
    assert reason(driven(tmp_path)) == "not-a-file"
    assert reason(driven(tmp_path / "pipe")) == "not-a-file"
    assert reason(driven(Path("/dev/zero"))) == "not-a-file"
    assert reason(driven(tmp_path / "nothing")) == "missing"
    assert reason(driven(tmp_path / "nothing" / "below")) == "missing"


@pytest.mark.parametrize(
    "payload",
    [
        None,
        "film.mp4",
        {},
        {"path": 7},
        {"path": "film.mp4"},
        {"path": "http://host/film.mp4"},
        {"path": "/a\0b"},
        {"path": "/a", "x": 1},
    ],
)
def test_a_payload_of_another_shape_is_refused(payload: dict[str, str] | None) -> None:
    """With what it should be."""
    assert reason(drive(handlers.qc, payload)) == "payload"


def test_an_unknown_profile_is_refused(film: Film) -> None:
    """Rather than measured by another."""
    assert reason(drive(handlers.qc, {"path": str(film("small.ts")), "profile": "strict"})) == "profile"


def grow(path: Path) -> None:
    """Another size."""
    with path.open("ab") as file:
        file.write(bytes(188))


def touch(path: Path) -> None:
    """Another time."""
    os.utime(path, ns=(1, 1))


def replace(path: Path) -> None:
    """Another file of the same name, bytes and time."""
    fresh = path.with_name("fresh")
    shutil.copy2(path, fresh)
    fresh.replace(path)


@pytest.mark.parametrize("change", [grow, touch, replace, Path.unlink])
def test_a_film_that_changes_while_it_is_measured_is_refused(change: object, film: Film, tmp_path: Path) -> None:
    """Its index is of another film, so no part may be measured by it."""
    path = Path(shutil.copy2(film("small.ts"), tmp_path / "film.ts"))
    context = Context(job_id=1, kind="media.qc", attempt=1, scratch=tmp_path)
    split = handlers.qc(context, {"path": str(path)})
    assert isinstance(split, Split)
    (tmp_path / "index").write_bytes(split.files["index"])
    part = Context(job_id=1, kind="media.qc", attempt=1, scratch=tmp_path, ordinal=1, files={"index": tmp_path / "index"})
    assert isinstance(handlers.measure_part(part, {"path": str(path)}), Done)
    assert callable(change)
    change(path)
    outcome = handlers.measure_part(part, {"path": str(path)})
    assert isinstance(outcome, Reject)
    assert outcome.what.startswith("changed: ")


def test_a_plan_of_another_engine_is_refused(film: Film, tmp_path: Path) -> None:
    """Its cuts and numbers may not be mixed with ours."""
    path = film("small.ts")
    split = handlers.qc(Context(job_id=1, kind="media.qc", attempt=1, scratch=tmp_path), {"path": str(path)})
    assert isinstance(split, Split)
    (tmp_path / "index").write_bytes(split.files["index"].replace(b'"pyav":"', b'"pyav":"9', 1)[:-1])
    part = Context(job_id=1, kind="media.qc", attempt=1, scratch=tmp_path, ordinal=0, files={"index": tmp_path / "index"})
    outcome = handlers.measure_part(part, {"path": str(path)})
    assert isinstance(outcome, Reject)
    assert outcome.what.startswith("other-engine: ")


def mutilated(data: bytes, seed: int) -> bytes:
    """A film with noise anywhere, its head included, and sometimes cut."""
    chance = random.Random(seed)
    film = bytearray(data)
    for _ in range(chance.choice((1, 5, 50))):
        at = chance.choice((chance.randrange(min(2000, len(film))), chance.randrange(len(film))))
        film[at : at + chance.choice((1, 4, 40))] = chance.randbytes(chance.choice((1, 4, 40)))
    return bytes(film[: chance.choice((len(film), chance.randrange(1, len(film))))])


SHORT = {
    "short.mp4": "-t 3 -c:v libx264 -preset veryfast -g 25 -an -movflags +faststart",
    "short.mkv": "-t 3 -c:v libx264 -preset veryfast -g 25 -an",
    "short.avi": "-t 3 -c:v mpeg4 -g 25 -an",
    "short.mxf": "-t 3 -c:v mpeg2video -g 12 -an",
    "short.mpg": "-t 3 -c:v mpeg2video -g 12 -an -f vob",
}


def mutilate(name: str, seeds: range, film: Film, folder: Path) -> None:
    """Measure mutilated films in two orders: the outcome is a report or a named refusal, and both times the same."""
    films.make(films.Recipe(name, command=SHORT[name]), film("master.mkv"), folder / name)
    data = (folder / name).read_bytes()
    for seed in seeds:
        path = folder / f"{seed}{name}"
        path.write_bytes(mutilated(data, seed))
        one, two = driven(path), driven(path)
        if isinstance(one, Reject):
            assert one == two
            assert reason(one) in REMEDIES
        else:
            assert isinstance(two, Outcome)
            assert (one.files, one.output) == (two.files, two.output), (name, seed)


@pytest.mark.parametrize("name", SHORT)
def test_a_mutilated_film_ends_in_a_report_or_a_refusal(name: str, film: Film, tmp_path: Path) -> None:
    """Twelve of each container."""
    mutilate(name, range(12), film, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", SHORT)
def test_many_mutilated_films_end_in_a_report_or_a_refusal(name: str, film: Film, tmp_path: Path) -> None:
    """Five hundred of each container."""
    mutilate(name, range(12, 512), film, tmp_path)


def test_more_packets_than_an_index_may_have_are_refused(tmp_path: Path) -> None:
    """Two and a half million pictures of two pixels: a refusal by name, before memory grows further."""
    with (tmp_path / "long.y4m").open("wb") as file:
        file.write(b"YUV4MPEG2 W2 H2 F25:1 Ip A1:1 C420jpeg\n")
        for _ in range(2501):
            file.write((b"FRAME\n" + bytes(6)) * 1000)
    assert reason(driven(tmp_path / "long.y4m")) == "too-many-packets"
