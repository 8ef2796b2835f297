"""Every knob says on its own line what it does: ``Annotated[type, Meta(description=...)]`` beside its default.

A setting that holds further settings is documented by the docstring of their class.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from typing import Annotated, get_args, get_type_hints

from msgspec import Meta, Struct

from tests.house import pages, tree
from tests.house.tree import Breach

MODULE = "appliance.settings"
PATH = "appliance/settings.py"


def groups() -> list[type[Struct]]:
    """The classes of settings."""
    if importlib.util.find_spec(MODULE) is None:
        return []
    values = vars(importlib.import_module(MODULE)).values()
    return [value for value in values if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == MODULE]


def _is_group(hint: object) -> bool:
    return any(isinstance(part, type) and issubclass(part, Struct) for part in (hint, *get_args(hint)))


def _description(hint: object) -> str:
    return "".join(part.description or "" for part in getattr(hint, "__metadata__", ()) if isinstance(part, Meta)).strip()


def undocumented(group: type[Struct]) -> Iterator[Breach]:
    """The settings of a group that do not say what they do, and the group if it does not."""
    if not (group.__doc__ or "").strip():
        yield Breach(PATH, 1, f"{group.__name__} has no docstring")
    for name, hint in get_type_hints(group, include_extras=True).items():
        if not name.startswith("_") and not _is_group(hint) and not _description(hint):
            yield Breach(PATH, 1, f"{group.__name__}.{name} has no description")


def test_every_setting_is_documented() -> None:
    """Whoever finds a key in a file on a box can look up what it does."""
    tree.hold("settings", (breach for group in groups() for breach in undocumented(group)))


def test_the_printed_page_has_every_setting() -> None:
    """Whoever runs a box reads the page, not the code."""
    assert pages.SETTINGS.read_text(encoding="utf-8") == pages.settings_page()


class Good(Struct):
    """Said."""

    slots: Annotated[int, Meta(description="how many workers")] = 1


class Bad(Struct):  # noqa: D101 - that it says nothing is one of its shortcomings
    slots: int = 1
    pools: Annotated[int, Meta(ge=1)] = 1
    inner: Good | None = None


def test_a_setting_without_a_description_is_seen() -> None:
    """Bounds alone describe nothing; settings inside settings are described where they are."""
    assert [breach.what.split(" ", 1)[0] for breach in undocumented(Bad)] == ["Bad", "Bad.slots", "Bad.pools"]
    assert not list(undocumented(Good))
