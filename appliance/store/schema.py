"""The schema as frozen files: what this release knows of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from appliance import errors

FOLDER: Final = "migrations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One frozen file."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """The file's digest, which a released migration never changes."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations, in order."""
    files = sorted(resources.files(__package__).joinpath(FOLDER).iterdir(), key=lambda file: file.name)
    named = [(file.name.removesuffix(".sql"), file) for file in files if file.name.endswith(".sql")]
    return tuple(Migration(number=int(name[:4]), name=name[5:], sql=file.read_text(encoding="utf-8")) for name, file in named)


def newest() -> int:
    """The schema number of this release."""
    return migrations()[-1].number


def require(floor: int) -> None:
    """Refuse a ledger that asks for more than this release knows, before anything is written to it.

    Raises ``LedgerTooNewError``.
    """
    if floor > newest():
        message = f"the ledger needs schema {floor}, this release knows {newest()}"
        raise errors.LedgerTooNewError(message)
