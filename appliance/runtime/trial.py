"""The trial of a handler module: it is imported in a process of its own first, as it may end the process that imports it.

A compiled module built for another processor dies by SIGILL, some call ``exit``, some never come back: none of these may keep the
appliance from starting.
"""

from __future__ import annotations

import os
import select
import signal
from typing import Final

from appliance import limits
from appliance.errors import HandlerError
from appliance.log import Log
from appliance.runtime.loading import load
from appliance.runtime.supervision import fork

CAME_BACK: Final = 17  # an exit code that no module gives by accident


def require_return(module: str, log: Log, limit_ms: int = limits.IMPORT_MS_MAX) -> None:
    """Import a module in a child, and see that the import comes back, with whatever result.

    Raises ``HandlerError`` when it does not.  To be called in a clean process: no threads, no connections.
    """
    pid = fork.fork(lambda: _import(module), settle=lambda: None, keep=(), log=log)
    pidfd = os.pidfd_open(pid)
    try:
        waiter = select.poll()
        waiter.register(pidfd, select.POLLIN)
        ended = bool(waiter.poll(limit_ms))
        if not ended:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    finally:
        os.close(pidfd)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if not ended:
        message = f"the handler module {module!r} takes over {limit_ms} ms to import"
        raise HandlerError(message)
    if code != CAME_BACK:
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        message = f"the handler module {module!r} ends the process that imports it, {how}"
        raise HandlerError(message)


def _import(module: str) -> int:
    try:
        load(module)
    except HandlerError:
        return CAME_BACK  # said by the one who imports it for good
    return CAME_BACK
