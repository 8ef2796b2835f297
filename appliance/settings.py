"""Every knob, typed, on one page.

Layers (files, later ones win) are merged as plain tables before any default is filled in, so a later file never resets what it
does not name.  What is wrong is data: a list of ``Finding``, each with the key that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

SOME_POOL: Final = "pools[...]"  # as msgspec names it


class Store(Struct, frozen=True, forbid_unknown_fields=True):
    """How the ledger treats its storage."""

    safe_overwrite: Annotated[
        bool, Meta(description="true where a torn write cannot damage neighbouring bytes (server-grade disks); commits get smaller")
    ] = False


class Pool(Struct, frozen=True, forbid_unknown_fields=True):
    """A set of like workers: the unit of isolation."""

    workers: Annotated[int, Meta(ge=1, le=256, description="how many jobs of this pool run at once")] = 2
    isolated: Annotated[
        bool, Meta(description="true to run handlers in a hand: a locked-in process without a database, for hostile input")
    ] = False
    memory_bytes_max: Annotated[
        int, Meta(ge=64 << 20, description="address space that a hand of this pool may use, where its kind does not say less")
    ] = 4 << 30


class Handlers(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the handlers of jobs come from."""

    modules: Annotated[tuple[str, ...], Meta(description="Python modules whose @job functions this appliance offers")] = ()
    built_in: Annotated[bool, Meta(description="false to offer only those modules, and nothing that comes with the product")] = True
    paths: Annotated[
        tuple[str, ...],
        Meta(description="folders in which these modules are looked for first; relative ones from the file that names them"),
    ] = ()


class Stop(Struct, frozen=True, forbid_unknown_fields=True):
    """How a stop is bounded."""

    seconds: Annotated[int, Meta(ge=1, le=600, description="how long a stop waits for work before it is handed back")] = 20


class Restarts(Struct, frozen=True, forbid_unknown_fields=True):
    """How processes that die are started again."""

    most_seconds: Annotated[
        int, Meta(ge=1, le=3600, description="the longest pause before a process that dies again and again is started once more")
    ] = 300


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings."""

    store: Store = Store()
    handlers: Handlers = Handlers()
    stop: Stop = Stop()
    restarts: Restarts = Restarts()
    pools: dict[str, Pool] = msgspec.field(default_factory=lambda: {"default": Pool()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong with a setting: its key, the fault, and what to do."""

    key: str
    what: str
    remedy: str


def merge(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Lay tables over each other, deeply: a later value wins, a table is merged key by key, a list is replaced."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            below = merged.get(key)
            merged[key] = merge((below, value)) if isinstance(below, dict) and isinstance(value, Mapping) else value
    return merged


def read(layers: Iterable[Mapping[str, Any]]) -> tuple[Settings | None, list[Finding]]:
    """The settings of these layers, or what is wrong with them.  Defaults are filled in after the layers are merged."""
    merged = merge(layers)
    try:
        settings = msgspec.convert(merged, Settings)
    except msgspec.ValidationError as error:
        what, _, key = str(error).partition(" - at `$.")
        key = key.rstrip("`") or "(top)"
        if key.startswith(SOME_POOL):
            key = f"pools.{_bad_pool(merged['pools'])}{key.removeprefix(SOME_POOL)}"
        return None, [Finding(key=key, what=what, remedy="correct or remove this key")]
    findings = list(_findings(settings))
    return None if findings else settings, findings


def _bad_pool(pools: Mapping[str, Any]) -> str:
    """The first pool that cannot be used: msgspec names the place of a fault, but not the key of a dictionary in it."""
    for name, table in pools.items():
        try:
            msgspec.convert(table, Pool)
        except msgspec.ValidationError:
            return name
    return "..."


def _findings(settings: Settings) -> Iterable[Finding]:
    for name in settings.pools:
        if not name.replace("_", "").replace("-", "").isalnum():
            yield Finding(key=f"pools.{name}", what="a pool is named by letters, digits, - and _", remedy="rename the pool")
