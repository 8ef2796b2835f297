"""``appliance media``: a tiny film, and what is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.coordination import history
from appliance.errors import LedgerMissingError
from tests.crash.appliance_stage import Appliance, appliance, children
from tests.crash.facts import until
from tests.e2e.manners import plain, refused

pytestmark = [pytest.mark.crash, pytest.mark.media]
SETTINGS = "[pools.media]\nworkers = 1\n"


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One second of a test picture."""
    path = tmp_path_factory.mktemp("film") / "tiny.avi"
    source = "testsrc2=size=64x48:rate=25:duration=1"
    argv = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-c:v", "mpeg4", "-bitexact", str(path)]
    subprocess.run(argv, check=True, timeout=60)
    return path


@pytest.fixture(scope="module")
def cinema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Appliance]:
    """An appliance that does films."""
    with appliance(tmp_path_factory.mktemp("cinema"), SETTINGS) as found:
        yield found


def test_a_film_is_measured_without_a_running_appliance(tmp_path: Path, film: Path) -> None:
    """One is started for it, and is gone with all its processes; a second time the report that there is is the answer."""
    with appliance(tmp_path, SETTINGS, start=False) as box:
        texts = []
        for _ in range(2):
            command = box.begin("media", "qc", str(film), "--json", new_session=True)
            output, errors = command.communicate(timeout=60)
            assert command.returncode == 0, errors
            assert not box.members()
            texts.append(json.loads(output))
        first, second = texts
        assert (first["job"], first["verdict"], first["frames"]) == (second["job"], "warn", 25)
        assert json.loads((box.folder / first["report"]).read_bytes())
        assert (box.folder / first["frame_data"]).stat().st_size > 0
        assert json.loads((box.folder / first["run_record"]).read_bytes())["job"] == first["job"]


def test_a_running_appliance_does_the_work(cinema: Appliance, film: Path) -> None:
    """Without --wait the job's number is the answer, with it the verdict, on plain lines."""
    done = cinema.command("media", "qc", str(film))
    assert done.returncode == 0
    assert done.stdout.startswith("job 1 ")
    waited = cinema.command("media", "qc", str(film), "--wait")
    assert waited.returncode == 0, waited.stderr
    assert "tiny.avi: WARN" in waited.stdout
    assert plain(waited.stdout + waited.stderr)
    (told,) = cinema.json("media", "report", "1")
    assert (told["file"], told["job"], told["state"], told["verdict"]) == ("tiny.avi", 1, "done", "warn")


def test_what_is_no_film_has_no_verdict(cinema: Appliance, tmp_path: Path) -> None:
    """Empty, text, and rubbish: exit code 2 and why, for each; none keeps the others from an answer."""
    contents = {"empty.mov": b"", "text.mov": b"this is no film\n" * 100, "rubbish.mov": os.urandom(20_000)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    done = cinema.command("media", "qc", "--wait", "--json", *(str(tmp_path / name) for name in contents))
    assert done.returncode == 2
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["file"] for each in told] == list(contents)
    assert all(each["state"] != "done" or each["verdict"] for each in told)


def test_what_cannot_be_read_is_refused_before_anything_is_begun(cinema: Appliance, tmp_path: Path, film: Path) -> None:
    """A missing file, a folder, a fifo, a device: also when good ones stand beside it."""
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "missing.mov", tmp_path, tmp_path / "fifo", Path(os.devnull)):
        refused(cinema, "media", "qc", str(film), str(path), code=66, says=str(path))


def test_a_name_that_is_not_utf8_is_refused_in_words(cinema: Appliance, tmp_path: Path, film: Path) -> None:
    """The ledger holds text; what commands a terminal is shown as an escape."""
    odd = os.fsencode(tmp_path) + b"/\xff\xfe \x1b[31m.avi"
    Path(os.fsdecode(odd)).write_bytes(film.read_bytes())
    argv = [*(os.fsencode(each) for each in cinema.argv), b"media", b"qc", b"--wait", odd]
    done = subprocess.run(argv, cwd=cinema.folder, capture_output=True, env=cinema.environment(), check=False, timeout=60)
    assert done.returncode == 66, done.stderr
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr


def test_a_report_of_no_film_is_refused(cinema: Appliance, film: Path) -> None:
    """A number that no job has, and a job of another kind."""
    refused(cinema, "media", "report", "99999", code=65, says="no job 99999")
    (probe,) = cinema.json("submit", "probe", "--wait")[:1]
    refused(cinema, "media", "report", str(probe["id"]), code=65, says="not a media.qc")


def test_reports_that_cannot_be_written_are_refused_in_words(cinema: Appliance, film: Path, tmp_path: Path) -> None:
    """A file stands where their folder should be."""
    cinema.command("media", "qc", str(film), "--wait")
    (tmp_path / "file").touch()
    done = cinema.command("media", "report", "1", "--output", str(tmp_path / "file"))
    assert done.returncode == 73, done.stderr
    assert "Traceback" not in done.stderr


def test_a_very_long_name_is_no_hindrance(cinema: Appliance, film: Path, tmp_path: Path) -> None:
    """A path of thousands of characters, with a name as long as can be; a changed film of the same name is another job."""
    folder = tmp_path
    for _ in range(5):
        folder /= "d" * 200
    folder.mkdir(parents=True)
    path = folder / ("ü" * 120 + ".avi")
    path.write_bytes(film.read_bytes())
    (first,) = cinema.json("media", "qc", str(path), "--wait")
    assert (first["state"], (cinema.folder / first["report"]).exists()) == ("done", True)
    path.write_bytes(film.read_bytes() + b"\0")
    (second,) = cinema.json("media", "qc", str(path), "--wait")
    assert second["job"] != first["job"]


def test_films_of_several_commands_at_once_share_an_appliance(tmp_path: Path) -> None:
    """One of them starts it, the others join; when its own film is done it stops it, and another starts it again."""
    with appliance(tmp_path, SETTINGS, start=False) as box:
        commands = []
        for number in range(3):
            (box.folder / f"film{number}").write_text(f"no film {number}")
            commands.append(box.begin("media", "qc", f"film{number}", "--wait", new_session=True))
        for command in commands:
            output, errors = command.communicate(timeout=60)
            assert b"no verdict" in output, errors
            assert command.returncode == 2
        assert not box.members()


def asked(box: Appliance) -> bool:
    """Whether there is a job."""
    try:
        with box.ledger() as ledger:
            return bool(history.newest(ledger, most=1))
    except LedgerMissingError:
        return False


def test_a_film_is_measured_to_its_end_though_somebody_kills_the_appliance(tmp_path: Path, film: Path) -> None:
    """The command had started it, and starts it once more."""
    with appliance(tmp_path, SETTINGS, start=False) as box:
        command = box.begin("media", "qc", str(film), "--json", new_session=True)
        until(lambda: asked(box), what="the job of the command")
        (supervisor,) = children(command.pid)
        os.kill(supervisor, signal.SIGKILL)
        output, errors = command.communicate(timeout=60)
        assert command.returncode == 0, errors
        assert json.loads(output)["frames"] == 25


@pytest.fixture(scope="module")
def long_film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film that takes some seconds to measure."""
    path = tmp_path_factory.mktemp("film") / "long.avi"
    source = "testsrc2=size=640x360:rate=25:duration=16"
    argv = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-c:v", "mpeg4", "-qscale:v", "20", "-bitexact", str(path)]
    subprocess.run(argv, check=True, timeout=60)
    return path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_command_that_is_interrupted_takes_its_appliance_along(
    tmp_path: Path, long_film: Path, number: signal.Signals, code: int
) -> None:
    """By Ctrl-C or kill -9: no process is left after two seconds, and the next command goes on where this one was."""
    with appliance(tmp_path, SETTINGS, start=False) as box:
        command = box.begin("media", "qc", str(long_film), new_session=True)
        until(lambda: (box.paths.state / "ledger.db").exists() and box.json("jobs", "list"), what="the job")
        box.stands(1, "leased", "gathering")
        command.send_signal(number)
        _, errors = command.communicate(timeout=30)
        assert (command.returncode, b"Traceback" in errors) == (code, False)
        until(lambda: not box.members(), seconds=2, what="the end of all processes")
        (told,) = box.json("media", "qc", str(long_film))
        assert (told["job"], told["state"], told["frames"]) == (1, "done", 400)
        assert box.show(1).failures == 0
