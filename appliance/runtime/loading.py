"""Loading handlers from the modules that the settings name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable

from appliance import errors
from appliance.coordination.handlers import Handler, handlers_of


def look_in(paths: Iterable[str]) -> None:
    """Look for modules in these folders first.  Called once in a process's life, before anything of the vendor's is imported."""
    sys.path[:0] = paths


def load(module: str) -> list[Handler]:
    """The handlers that a module declares.

    Raises ``HandlerError`` when it does not import, or declares none.  This imports code of the vendor: never in the supervisor.
    """
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # the vendor's code may raise anything; it is a finding, not our crash
        message = f"the handler module {module!r} does not import: {type(error).__name__}: {error}"
        raise errors.HandlerError(message) from error
    handlers = handlers_of(loaded)
    if not handlers:
        message = f"the handler module {module!r} declares no @job"
        raise errors.HandlerError(message)
    return handlers


def load_all(modules: Iterable[str]) -> dict[tuple[str, str], Handler]:
    """The handlers of several modules by (module, kind): a module may show those of another, which it imported.

    Raises ``HandlerError`` as ``load`` does.
    """
    return {(module, handler.kind): handler for module in modules for handler in load(module)}
