"""The entry of the single file: find the command, do it, and say in plain words what went wrong.

This is the outermost bulkhead.  A command's module is loaded only when it is the one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence

from appliance.errors import ApplianceError

INTERNAL = 70
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Do a command; its exit code."""
    from appliance.cli import commands

    try:
        return commands.dispatch(list(sys.argv[1:] if argv is None else argv))
    except ApplianceError as error:
        _say(f"appliance: {error}\n  {error.remedy}")
        return error.exit_code
    except KeyboardInterrupt:
        _say("appliance: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader went away: nothing is left to be said, and nothing is wrong
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the outermost bulkhead
        _say(f"appliance: this is a fault of ours: {type(error).__name__}: {error}\n{traceback.format_exc()}  please report it")
        return INTERNAL


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(text + "\n")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.exit(main())
