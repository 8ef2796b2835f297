"""Whether the ledger is whole: what is looked at before anything is written to it."""

from __future__ import annotations

import apsw

from appliance import errors
from appliance.store import marker
from appliance.store.engine import connect
from appliance.store.ledger import LEDGER, Place


def check_if_unclean(place: Place) -> bool:
    """A quick check of the ledger, unless the last stop was clean; whether it was made.

    Raises ``LedgerDamagedError``.  The marker is taken away: from now on a stop without it was none of ours.
    """
    clean = marker.take_away(place.state)
    if clean or not (place.state / LEDGER).exists():
        return False
    connection = connect(place.state / LEDGER, psow=place.safe_overwrite, vfs=place.vfs)
    try:
        verdict = connection.execute("PRAGMA quick_check(5)").fetchall()
    except (apsw.CorruptError, apsw.NotADBError) as error:
        verdict = [(str(error),)]
    finally:
        connection.close()
    if verdict != [("ok",)]:
        message = f"the ledger is damaged: {'; '.join(str(line) for (line,) in verdict)[:500]}"
        raise errors.LedgerDamagedError(message)
    return True
