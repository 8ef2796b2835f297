"""Named SQL: a ``.sql`` file beside its noun, read through package resources (a zip has no paths).

Each statement starts with ``-- name: verb``; a ``-- scan: reason`` line below says why its plan may read a whole table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

NAME: Final = re.compile(r"^-- name: ([a-z_]+)$", re.MULTILINE)


@cache
def load(package: str, file: str) -> Mapping[str, str]:
    """The statements of one file by name, as they stand, comments included."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    pieces = NAME.split(text)[1:]
    named = dict(zip(pieces[::2], (body.strip() for body in pieces[1::2]), strict=True))
    if len(named) * 2 != len(pieces):
        message = f"{file} names a statement twice"
        raise ValueError(message)
    return named
