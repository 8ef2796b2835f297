"""Where things are on this machine, and what its settings say.  The one place that reads the environment.

systemd's variables come first (``STATE_DIRECTORY``, ``RUNTIME_DIRECTORY``), then the folders that the platform gives a user.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
import tomli_w

from appliance import errors, settings
from appliance.settings import Finding, Settings

NAME = "appliance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """The folders and files of one appliance: ``state`` must survive, ``runtime`` must not."""

    state: Path
    runtime: Path
    settings: tuple[Path, ...]

    def make(self) -> Paths:
        """Make the two folders, for their user alone."""
        for folder in (self.state, self.runtime):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self


def environment() -> dict[str, str]:
    """A copy of the environment."""
    return dict(os.environ)


def paths(variables: Mapping[str, str], *, state: Path | None = None, config: Path | None = None) -> Paths:
    """The folders of the appliance that ``state`` (or else the environment) names.

    An appliance in a folder of its own has a runtime folder of its own, named by the digest of the state folder's path.
    """
    given = variables.get("STATE_DIRECTORY", "").split(":")[0]
    chosen = (state or Path(given or platformdirs.user_state_path(NAME))).absolute()
    runtime = variables.get("RUNTIME_DIRECTORY", "").split(":")[0]
    if not runtime or state is not None:
        name = f"{NAME}-{hashlib.sha256(os.fsencode(chosen.resolve())).hexdigest()[:12]}"
        runtime = str(platformdirs.user_runtime_path(ensure_exists=False) / name)
    layers = (platformdirs.site_config_path(NAME) / f"{NAME}.toml", platformdirs.user_config_path(NAME) / f"{NAME}.toml")
    own = (chosen / f"{NAME}.toml",)
    return Paths(state=chosen, runtime=Path(runtime), settings=(config.absolute(),) if config else (*layers, *own))


def load(places: Paths, *, required: bool = False, over: Mapping[str, Any] | None = None) -> tuple[Settings, list[Finding]]:
    """The settings of the files that there are, with ``over`` on top.

    Raises ``SettingsError`` when they cannot be used, naming file and key.  ``required``: a named file must exist.
    """
    layers = [_table(path) for path in places.settings if required or path.exists()]
    found, findings = settings.read([*layers, over or {}])
    if found is None:
        names = ", ".join(str(path) for path in places.settings if path.exists()) or "the built-in settings"
        message = f"{names}: {findings[0].key}: {findings[0].what}"
        raise errors.SettingsError(message)
    return found, findings


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path} cannot be read: {error}"
        raise errors.SettingsError(message) from error


def dump(table: Mapping[str, Any]) -> str:
    """Settings as TOML text."""
    return tomli_w.dumps(dict(table))


def interpreter() -> list[str]:
    """The command that starts this program's interpreter with the same modules in reach."""
    return [sys.executable, "-I"]
