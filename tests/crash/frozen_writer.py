"""A writer that stops itself in the middle of a transaction: ``python -m tests.crash.frozen_writer STATE RUNTIME``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from appliance.clock import SYSTEM
from appliance.coordination import queue
from appliance.coordination.work import Submission
from appliance.site import boot
from appliance.store.ledger import Ledger, Place

if __name__ == "__main__":
    place = Place(state=Path(sys.argv[1]), runtime=Path(sys.argv[2]))
    ledger = Ledger(place, SYSTEM, boot.start_ticks(os.getpid()) or 0)
    with ledger.write() as tx:
        queue.submit(tx, [Submission(kind="note", work_id="never")])
        os.kill(os.getpid(), signal.SIGSTOP)
