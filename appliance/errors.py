"""Every error the product raises on purpose: what happened (the message), what to do (the remedy), how the process ends.

A class cannot be defined without a remedy, so no message reaches a person who is then left alone with it.  Exit codes are
those of sysexits.h where one fits: 64 usage, 65 input, 66 no such file, 69 unavailable, 70 internal, 71 no room on the machine,
73 cannot be made, 74 storage, 75 try again, 77 not allowed, 78 configuration.
"""

from __future__ import annotations

from typing import ClassVar


class ApplianceError(Exception):
    """The root: never raised itself, only its children are."""

    remedy: ClassVar[str] = "run `appliance doctor`"
    exit_code: ClassVar[int] = 70

    def __init_subclass__(cls, *, remedy: str, exit_code: int = 70) -> None:
        """Take the class's remedy and exit code; a class without a remedy does not come into being."""
        super().__init_subclass__()
        if not remedy.strip():
            message = f"{cls.__name__} needs a remedy"
            raise TypeError(message)
        cls.remedy = remedy
        cls.exit_code = exit_code


class UsageError(ApplianceError, remedy="see `appliance --help`", exit_code=64):
    """The command line cannot be meant as it was typed."""


class SettingsError(ApplianceError, remedy="correct the named key in the settings file", exit_code=78):
    """The settings cannot be used as they stand."""


class HandlerError(ApplianceError, remedy="correct the handler module or take it out of the settings", exit_code=78):
    """A handler was declared in a way that cannot work."""


class UnknownKindError(
    ApplianceError, remedy="list the known kinds with `appliance status`, or add the handler's module to the settings", exit_code=65
):
    """No handler of this kind has been declared to the ledger."""


class PayloadError(ApplianceError, remedy="correct the payload and submit again", exit_code=65):
    """A payload is not what its kind reads, or is over its size limit."""


class NoSuchJobError(ApplianceError, remedy="list the jobs with `appliance jobs list`", exit_code=65):
    """The ledger has no job of this number."""


class MoveRefusedError(ApplianceError, remedy="look at the job with `appliance jobs show`", exit_code=65):
    """The job does not stand where this verb could move it from."""


class EngineTooOldError(
    ApplianceError, remedy="install apsw 3.51.3 or later: earlier engines can corrupt a WAL database", exit_code=78
):
    """The SQLite engine is below the floor that the store needs."""


class ForeignConnectionError(ApplianceError, remedy="report it: a child must open its own connection", exit_code=70):
    """A connection was used in a process other than the one that opened it."""


class StorageUnsuitableError(
    ApplianceError, remedy="put the state directory on a local filesystem (ext4, xfs, btrfs, zfs or f2fs)", exit_code=78
):
    """The filesystem does not keep the promises that the ledger stands on."""


class StorageFailingError(
    ApplianceError,
    remedy="check the disk (`dmesg`, SMART) and its free space, then restart; nothing acknowledged was lost",
    exit_code=74,
):
    """A write or a sync to the ledger failed; whether the last transaction took hold is unknown."""


class NoRoomError(
    ApplianceError, remedy="free memory, or let fewer processes run on the machine; the appliance goes on by itself", exit_code=71
):
    """The machine had no room for another process."""


class StorageFullError(
    ApplianceError, remedy="free space on the state directory's filesystem; the appliance goes on by itself", exit_code=74
):
    """The disk is full; whether the last transaction took hold is unknown, and asking again is harmless."""


class WalFullError(
    ApplianceError,
    remedy="end the program that reads the ledger without end; a running appliance then empties the WAL and goes on by itself",
    exit_code=75,
):
    """The WAL is over its bound, as something reads the ledger without end; work goes on, but nothing new is taken in."""


class LedgerTooNewError(ApplianceError, remedy="run `appliance upgrade`, or restore a backup", exit_code=78):
    """The ledger was written by a later release."""


class LedgerDamagedError(
    ApplianceError, remedy="keep ledger.db, ledger.db-wal and ledger.db-shm as they are, and restore a backup", exit_code=74
):
    """The ledger is not whole."""


class LedgerMissingError(
    ApplianceError, remedy="start the appliance with `appliance run`, or name its state directory with --state", exit_code=69
):
    """There is no ledger where one was expected."""


class TermLostError(ApplianceError, remedy="nothing to do: another process holds the term now", exit_code=75):
    """A holder of a term found that it has passed on; its write was refused."""


class TurnstileTimeoutError(
    ApplianceError, remedy="try again; if it stays, `appliance doctor` names the process that holds the ledger", exit_code=75
):
    """A program that does not queue at the turnstile kept the ledger locked past the bound."""


class ReadTooOldError(ApplianceError, remedy="ask for less at once, or with a limit", exit_code=75):
    """A read stayed open past its age limit and was ended so that the WAL can be emptied."""


class ForkRefusedError(
    ApplianceError, remedy="report it: processes are forked only from a clean, single-threaded supervisor", exit_code=70
):
    """A fork was asked for while threads, an event loop or connections were alive."""


class AlreadyRunningError(ApplianceError, remedy="use the appliance that runs, or stop it first", exit_code=75):
    """Another supervisor of this release works on the same ledger."""


class FolderNotMadeError(
    ApplianceError, remedy="make it for this user, or name another state directory with --state", exit_code=73
):
    """A folder of the appliance is not there and cannot be made."""


class FolderNotOursError(ApplianceError, remedy="remove it, or run as its user, or name another with --state", exit_code=77):
    """A folder that must be this user's alone belongs to somebody else."""


class InputFileError(ApplianceError, remedy="check the path and that the service may read it", exit_code=66):
    """A file named by the user cannot be read."""


class NotStartedError(ApplianceError, remedy="read the end of the named log; `appliance run` shows it as it comes", exit_code=69):
    """An appliance that a command needed did not start."""


class ReportNotWrittenError(
    ApplianceError, remedy="make room, or name another folder with --output; `appliance media report` writes it again", exit_code=73
):
    """A report cannot be written where it was asked for."""
