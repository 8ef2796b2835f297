"""The only place that forks.

Promises: the parent is single-threaded, runs no event loop and holds no database connection, or ``ForkRefusedError`` is raised
and nothing happened.  No signal is lost: all are blocked around the fork, and the child unblocks them only after its own handlers
stand, so a TERM sent the instant after the fork is obeyed.  The child dies with its parent, leads a process group of its own (what
it starts dies with it), has no descriptor but those it was given, and never returns into its parent's stack: it ends by
``os._exit``, and no clean-up of the parent (``atexit``, buffers, context managers) happens twice.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Collection
from typing import Final, NoReturn

from appliance.errors import ApplianceError, ForkRefusedError
from appliance.log import Log
from appliance.runtime.supervision import kernel

INTERNAL: Final = 70  # EX_SOFTWARE of sysexits.h
STANDARD: Final = 3  # descriptors below are input, output and errors
RESET: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2)


def fork(main: Callable[[], int], *, settle: Callable[[], None], keep: Collection[int], log: Log) -> int:
    """Make a child that settles (installs its signal handlers, with all signals blocked), runs ``main`` and ends with its code.

    Gives the child's pid.  ``keep`` are the descriptors it keeps besides input (which becomes empty), output and errors.
    Raises ``ForkRefusedError`` when the process is not clean, ``OSError`` when the kernel has no room for another one.
    """
    _refuse_unless_clean()
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _live(parent, main, lambda: _settle(settle, before, keep, log), log)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpgid(pid, pid)  # both sides do it, so neither can be early
    return pid


def _refuse_unless_clean() -> None:
    threads = max(threading.active_count(), len(os.listdir("/proc/self/task")))
    if threads != 1:
        message = f"a fork was asked for in a process of {threads} threads"
        raise ForkRefusedError(message)
    engine = sys.modules.get("apsw")
    connections = len(engine.connections()) if engine is not None else 0
    if connections:
        message = f"a fork was asked for while {connections} database connections are open"
        raise ForkRefusedError(message)
    if _loop_runs():
        message = "a fork was asked for inside a running event loop, which parent and child would share"
        raise ForkRefusedError(message)


def _loop_runs() -> bool:
    """Whether an event loop runs in this thread; one that was never imported does not."""
    loops = sys.modules.get("asyncio")
    try:
        return loops is not None and loops.get_running_loop() is not None
    except RuntimeError:
        return False


def _live(parent: int, main: Callable[[], int], settle: Callable[[], None], log: Log) -> NoReturn:
    """The whole life of a child.  This is its ``__main__``, hence a bulkhead: whatever happens, it records, and it ends here."""
    code = INTERNAL
    try:
        kernel.die_with(parent)
        settle()
        code = int(main())
    except ApplianceError as error:
        code = error.exit_code
        log.error("child cannot go on", error=type(error).__name__, what=str(error), remedy=error.remedy)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else INTERNAL
    except BaseException as error:  # noqa: BLE001 - a bulkhead
        log.error("child crashed", error=type(error).__name__, trace=traceback.format_exc()[-1500:])
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code & 0xFF)


def _settle(settle: Callable[[], None], before: Collection[int], keep: Collection[int], log: Log) -> None:
    with contextlib.suppress(PermissionError):
        os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    for number in RESET:
        signal.signal(number, signal.SIG_DFL)
    _close_all_but({*keep, log.descriptor})
    settle()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _close_all_but(keep: Collection[int]) -> None:
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor >= STANDARD and descriptor not in keep:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
