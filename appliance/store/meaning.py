"""What the engine's errors mean here: each becomes one of ours, with a remedy.  None of them says that a commit did not happen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from appliance import errors


@contextmanager
def of_writing(failing: Callable[[], None]) -> Iterator[None]:
    """While something is written; ``failing`` is called when a write or a sync was refused, before the error goes on.

    Raises ``StorageFullError``, ``StorageFailingError``, and ``TurnstileTimeoutError`` for a lock that nobody let go.
    """
    try:
        yield
    except apsw.FullError as error:
        message = f"the disk is full ({error}); whether the last transaction took hold is unknown"
        raise errors.StorageFullError(message) from error
    except (apsw.IOError, apsw.CorruptError, apsw.NotADBError) as error:
        failing()
        message = f"the ledger raised {type(error).__name__}: {error}; whether the last transaction took hold is unknown"
        raise errors.StorageFailingError(message) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError) as error:
        message = f"the ledger cannot be written: {error}"
        raise errors.StorageFailingError(message) from error
    except apsw.BusyError as error:
        message = "a program that does not queue at the turnstile holds the ledger"
        raise errors.TurnstileTimeoutError(message) from error


@contextmanager
def of_reading() -> Iterator[None]:
    """While something is read: nothing is said about any commit.

    Raises ``LedgerDamagedError``, ``StorageFailingError``, and ``TurnstileTimeoutError`` for a lock that nobody let go.
    """
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        message = f"the file cannot be read as a ledger: {error}"
        raise errors.LedgerDamagedError(message) from error
    except (apsw.IOError, apsw.CantOpenError) as error:
        message = f"the ledger could not be read: {error}"
        raise errors.StorageFailingError(message) from error
    except apsw.BusyError as error:
        message = "a program that does not queue at the turnstile holds the ledger"
        raise errors.TurnstileTimeoutError(message) from error
