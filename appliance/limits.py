"""Every bound of the product on one page, with its reason.  Units are last in the names."""

from __future__ import annotations

from typing import Final

# --- the store -----------------------------------------------------------------------------------
ENGINE_FLOOR: Final = (3, 51, 3)  # earlier WAL engines can lose a reset race: sqlite.org/wal.html#walresetbug
TURN_MS_MAX: Final = 60_000  # a writer that gets no turn in a minute says so instead of waiting for ever
TURN_HELD_MS_MAX: Final = 5_000  # the same ticket inside for so long on a box that is not starved: its holder is frozen
READ_MS_MAX: Final = 10_000  # an older read pins the WAL, so it is ended
READ_ROWS_MAX: Final = 100_000  # a read fetches fully before it ends: this bounds its memory
WAL_BYTES_CHECKPOINT: Final = 4 << 20  # the steward empties the WAL once it is this large
WAL_BYTES_MAX: Final = 256 << 20  # intake refuses above: something pins the WAL
QUIET_MS_CHECKPOINT: Final = 5_000  # and empties it when nothing was written for so long

# --- work ----------------------------------------------------------------------------------------
PAYLOAD_BYTES_MAX: Final = 256 << 10
RESULT_BYTES_MAX: Final = 256 << 10  # a larger result belongs into a file of the outcome
TEXT_CHARS_MAX: Final = 4_000  # error texts, causes and questions are cut to this
FILE_BYTES_MAX: Final = 1 << 30  # one file of an outcome
KIND_CHARS_MAX: Final = 100
WORK_ID_CHARS_MAX: Final = 500
PRIORITY_MOST: Final = 100  # priorities are from -100 to 100
HEAD_START_MS: Final = 60_000  # what one step of priority is worth in the order of claim
STARTS_WITHOUT_OUTCOME_MAX: Final = 10  # a job that was started so often and never came to an outcome is unclear
BATCH_MOST: Final = 128
BATCH_WORK_MS: Final = 50  # a batch is as many short jobs as make this much work
BATCH_COMMITS: Final = 4  # or this many times the measured cost of a commit, on slow disks
BATCH_JOB_MS_MAX: Final = 100  # a batched job over this: what is finished is handed in, the rest released
SHORT_JOB_MS: Final = 10  # kinds whose jobs took longer, on average, are claimed one at a time
RIPEN_MOST: Final = 500  # due jobs moved in one transaction
BACKOFF_MS_MAX: Final = 3_600_000
WINDOW_MOST: Final = 1_000
PARTS_MOST: Final = 10_000_000

# --- processes -----------------------------------------------------------------------------------
WAIT_MS_MAX: Final = 30_000  # every waiter looks again at least so often
RESTART_FIRST_MS: Final = 500
RESTART_MS_MAX: Final = 300_000
RESTART_STEWARD_MS_MAX: Final = 30_000
RESTART_WINDOW_MS: Final = 120_000
RESTARTS_MOST: Final = 5  # more deaths of a kind than this within the window degrade it
HEALTHY_MS: Final = 600_000  # after so long without a death the back-off starts anew
DEATHS_KEPT: Final = 500
BEAT_MS: Final = 1_000  # steward and singletons beat so often
BEAT_MISSED_MS: Final = 10_000  # and are killed after so long without a beat, unless the box is starved
STOP_MS: Final = 20_000  # what a stop may take before what is left is killed
PREPARE_MS_MAX: Final = 600_000
KILL_GRACE_MS: Final = 2_000  # between terminate and kill
STARVED_DELAY_MS: Final = 500  # our own loop woke this late: the box is starved, nobody is judged now
CAUSE_GRACE_MS: Final = 50  # a death seen by its pidfd waits so long for the cause from waitpid
HAND_FRAME_BYTES_MAX: Final = 1 << 30
HAND_START_MS_MAX: Final = 60_000
LATE_SHARE: Final = 2  # a job past 1/2 of its time limit is late: its stack is dumped to the log
