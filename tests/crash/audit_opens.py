"""The appliance with an ear on every file that Python opens, moves or cuts: ``python -m tests.crash.audit_opens FOUND ARGUMENTS``.

The engine opens its files by itself and is not heard; forked children inherit the ear.  What touches a database's files by any
other way is written to FOUND, a line each.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from appliance.__main__ import main

HEARD = frozenset({"open", "os.truncate", "os.rename", "os.remove", "os.link", "os.symlink", "shutil.copyfile", "shutil.move"})


def listen(found: str) -> None:
    """From now on, note what touches the ledger's files."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event in HEARD and any(touches(argument) for argument in arguments):
            descriptor = os.open(found, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(descriptor, f"{event} {arguments}\n".encode())
            os.close(descriptor)

    sys.addaudithook(hear)


def touches(argument: object) -> bool:
    """Whether this names the ledger's file, its WAL or its shared memory."""
    return isinstance(argument, str | bytes | Path) and Path(os.fsdecode(argument)).name in {
        "ledger.db",
        "ledger.db-wal",
        "ledger.db-shm",
    }


if __name__ == "__main__":
    listen(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
