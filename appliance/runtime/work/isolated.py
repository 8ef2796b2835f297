"""An isolated pool's way of carrying out calls: in a hand, whose death is an outcome like any other."""

from __future__ import annotations

from typing import Any, Final

from appliance.coordination.handin import DIED, Released
from appliance.coordination.outcomes import Retry
from appliance.errors import NoRoomError
from appliance.runtime.arguments import WorkerArgument
from appliance.runtime.call import Call, Perform
from appliance.runtime.hands.hands import Answer, Hand, Watch
from appliance.runtime.hands.requests import Setup
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.seats import Seat

GRACE_MS: Final = 10_000  # what the worker may take beyond the limit that it puts on its hand, before it is taken to hang
ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def in_hand(seat: Seat, argument: WorkerArgument) -> Perform:
    """Carries calls out in a hand of its own, which is started at the first call.

    What it gives raises ``NoRoomError`` when the machine has no room for one: the worker ends, which is no failure of the work.
    """
    setup = Setup(
        modules=sorted({kind.module for kind in argument.kinds}),
        memory_bytes_max=max(kind.memory_bytes_max for kind in argument.kinds),
    )
    hand = Hand(setup=setup, environment=ENVIRONMENT, clock=seat.clock, log=seat.log)

    def perform(call: Call) -> Any:  # noqa: ANN401 - what a handler returns is judged by the caller
        watch = Watch(
            limit_ms=call.kind.time_limit_ms,
            stall_ms=call.kind.stall_ms,
            wake=(seat.stop, seat.parent),
            grace_ms=argument.stop_ms,
            cancelled=call.context.cancelled,
            progress=call.context.progress,
        )
        try:
            got = hand.perform(call, watch)
        except OSError as error:
            message = f"no hand could be started: {error.strerror or error}"
            raise NoRoomError(message) from error
        if isinstance(got, Answer):
            return got.outcome
        if got.cause is Cause.ASKED:
            return Released(cause="stopped", started=False)
        seat.log.warning("hand died", job=call.context.job_id, ordinal=call.context.ordinal, cause=got.cause, code=got.code)
        return Retry(f"its hand died: {got.cause}, exit code {got.code}\n{got.text}", error_class=f"{DIED}{got.cause}")

    return perform
