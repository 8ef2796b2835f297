"""Where things are on this machine, and what its settings say.  The one place that reads the environment.

systemd's variables come first (``STATE_DIRECTORY``, ``RUNTIME_DIRECTORY``), then the folders that the platform gives a user.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import platformdirs
import tomli_w

from appliance import errors, settings
from appliance.settings import Finding, Settings
from appliance.site import filesystem

NAME: Final = "appliance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """The folders and files of one appliance: ``state`` must survive, ``runtime`` must not.

    ``named`` says that a person named the settings file, so it must be there.
    """

    state: Path
    runtime: Path
    settings: tuple[Path, ...]
    named: bool = False

    def make(self) -> Paths:
        """Make the two folders, for their user alone.

        Raises ``FolderNotMadeError``, and ``FolderNotOursError`` when somebody else made one of them first.
        """
        for folder in (self.state, self.runtime):
            found = _made(folder)
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                message = f"{folder} is not a folder of this user"
                raise errors.FolderNotOursError(message)
        return self


def _made(folder: Path) -> os.stat_result:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder.lstat()
    except OSError as error:
        message = f"the folder {folder} cannot be made: {error.strerror}"
        raise errors.FolderNotMadeError(message) from error


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
        runtime = str(_memory(variables, chosen) / name)
    layers = (platformdirs.site_config_path(NAME) / f"{NAME}.toml", platformdirs.user_config_path(NAME) / f"{NAME}.toml")
    own = (chosen / f"{NAME}.toml",)
    files = (config.absolute(),) if config else (*layers, *own)
    return Paths(state=chosen, runtime=Path(runtime), settings=files, named=config is not None)


def _memory(variables: Mapping[str, str], state: Path) -> Path:
    """A folder in memory: the session's, the system's, or the shared one; else the state folder itself, at the price of writes."""
    user = os.getuid()
    candidates = [variables.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}", "/run" if user == 0 else "", "/dev/shm"]  # noqa: S108 - checked to be ours by ``make``
    for candidate in candidates:
        if candidate and os.access(candidate, os.W_OK | os.X_OK) and filesystem.mount_of(Path(candidate)).kind == "tmpfs":
            return Path(candidate)
    return state


def load(
    places: Paths, *, under: Mapping[str, Any] | None = None, over: Mapping[str, Any] | None = None
) -> tuple[Settings, list[Finding]]:
    """The settings of the files that there are, between the layers ``under`` and ``over``.

    Raises ``SettingsError`` when they cannot be used, naming file and key.
    """
    layers = [_table(path) for path in places.settings if places.named or path.exists()]
    found, findings = settings.read([under or {}, *layers, over or {}])
    if found is None:
        names = ", ".join(str(path) for path in places.settings if path.exists()) or "the built-in settings"
        message = f"{names}: {findings[0].key}: {findings[0].what}"
        raise errors.SettingsError(message)
    return found, findings


def _table(path: Path) -> dict[str, Any]:
    """A settings file; the folders of handlers that it names are meant from where it is."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise errors.SettingsError(message) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path} is not TOML: {error}"
        raise errors.SettingsError(message) from error
    return _absolute(table, path.absolute().parent)


def _absolute(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    handlers = table.get("handlers")
    if isinstance(handlers, dict) and isinstance(handlers.get("paths"), list):
        handlers["paths"] = [str(folder / each) if isinstance(each, str) else each for each in handlers["paths"]]
    return table


def dump(table: Mapping[str, Any]) -> str:
    """Settings as TOML text."""
    return tomli_w.dumps(dict(table))
