"""Every bound of the product on one page, with its reason.  Units are last in the names."""

from __future__ import annotations

from typing import Final

# --- the store -----------------------------------------------------------------------------------
ENGINE_FLOOR: Final = (3, 51, 3)  # earlier WAL engines can lose a reset race: sqlite.org/wal.html#walresetbug
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
VERSION_MOST: Final = (1 << 31) - 1
AFTER_MS_MAX: Final = 10 * 366 * 86_400_000  # a delay over ten years is a mistake of units
PRIORITY_MOST: Final = 100  # priorities are from -100 to 100
HEAD_START_MS: Final = 60_000  # what one step of priority is worth in the order of claim
SNOOZE_MS_MIN: Final = 1_000  # "not yet" is no way to be asked at full speed
SNOOZED_MS_MAX: Final = 90 * 86_400_000  # a job that is still "not yet" so long after it came in is unclear
STARTS_WITHOUT_OUTCOME_MAX: Final = 10  # a job that was started so often and never came to an outcome is unclear
BATCH_MOST: Final = 128
BATCH_WORK_MS: Final = 50  # a batch is as many short jobs as make this much work
BATCH_COMMITS: Final = 4  # or this many times the measured cost of a commit, on slow disks
BATCH_JOB_MS_MAX: Final = 100  # a batched job over this: what is finished is handed in, the rest released
SHORT_JOB_MS: Final = 10  # kinds whose jobs took longer, on average, are claimed one at a time
RIPEN_MOST: Final = 500  # due jobs moved in one transaction
BACKOFF_MS_MAX: Final = 3_600_000
STEP_BYTES_ENOUGH: Final = 64 << 20  # a fold that has so much output in memory commits it before it takes the next part
WINDOW_MOST: Final = 1_000
PARTS_MOST: Final = 10_000_000
PART_ATTEMPTS_MOST: Final = 50  # a part that was measured so often and still does not fit: a person must look

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
IMPORT_MS_MAX: Final = 60_000  # a handler module that takes longer to import is left out
KILL_GRACE_MS: Final = 2_000  # between terminate and kill
STARVED_DELAY_MS: Final = 500  # our own loop woke this late: the box is starved, nobody is judged now
CANCEL_GRACE_MS: Final = 10_000  # a handler that does not look whether it is asked to stop is ended after this
CAUSE_GRACE_MS: Final = 50  # a death seen by its pidfd waits so long for the cause from waitpid
HAND_FRAME_BYTES_MAX: Final = 1 << 30
HAND_START_MS_MAX: Final = 60_000
SWEEP_MS_MAX: Final = 20  # what the steward spends in a beat on files that no row names: the dead are freed beside it
SWEEP_MS_EVERY: Final = 3_600_000  # it looks for such files so often, if work was done
LATE_SHARE: Final = 2  # a job past 1/2 of its time limit is late: its stack is dumped to the log
RESTART_JITTER: Final = 0.1  # a restart comes up to a tenth later than computed, so that slots do not return in step
CHILD_START_MS_MAX: Final = 60_000  # from the fork to ready: a slow import is not a hang
LOOP_MS_MAX: Final = 5_000  # the supervisor looks at the turnstile and for strays at least so often
STARVED_MS_MAX: Final = 60_000  # a starved box buys a silent child so much and no more
STARVED_GRACE_MS: Final = 3_000  # after our own loop woke late the others get so long to show life
STARVED_CPU_PERCENT: Final = 90.0  # pressure-stall averages of 10 s (some, full, full) from which the box is starved
STARVED_IO_PERCENT: Final = 60.0
STARVED_MEMORY_PERCENT: Final = 40.0
DEATHS_BYTES_MAX: Final = 1 << 20  # of their file no more is read, whoever wrote into it
DEATHS_REPLAYED: Final = 64  # a new steward is told the last ones; they fit into an empty pipe
PLAN_BYTES_MAX: Final = 1 << 20
CHILD_LINE_BYTES_MAX: Final = 4_096  # what a child says to the supervisor in one line
HAND_HEADER_BYTES_MAX: Final = 8 << 20  # the JSON of one frame
HAND_ATTACHMENTS_MOST: Final = 1_000
HAND_FRAMES_MOST: Final = 100_000  # progress frames of one attempt; more is a flood
HAND_NOISE_BYTES_MAX: Final = 16 << 20  # what a hand may print in one attempt; more is a flood
HAND_NOISE_BYTES_KEPT: Final = 4_000  # the last of it, for the report of a death
HAND_RESIDENT_BYTES_MAX: Final = 512 << 20  # a hand that grew over this is replaced after its attempt
HAND_ATTEMPTS_MOST: Final = 10_000  # and so is one that has served so many
HAND_DESCRIPTORS_MOST: Final = 256
FOLLOWS_BYTES_MAX: Final = 4 << 20  # payloads of one outcome's follow-ups together: they are written in one transaction
FOLLOWS_MOST: Final = 1_000
JSON_DEPTH_MOST: Final = 64
