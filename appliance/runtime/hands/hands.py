"""A hand, from its worker's side: started when there is a call, used again while it behaves, replaced when it does not.

``perform`` always comes back: with the answer, or with the cause of the hand's death.  It waits for the hand, for its worker's
own wake-ups and for the time limit, all at once, and never blocks on a hand that does not read or does not stop talking.  Whatever
is malformed, out of turn or over a bound ends the hand.  Nothing that a hand says is used before it was checked.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from appliance import limits
from appliance.clock import BootInstant, Clock
from appliance.log import Log
from appliance.runtime.call import Call
from appliance.runtime.hands import codec, frames, hand_process, requests
from appliance.runtime.hands.frames import Frame, FrameError
from appliance.runtime.hands.hand_process import HandProcess
from appliance.runtime.hands.requests import Setup
from appliance.runtime.supervision.causes import Cause

PIPE_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """How a call is watched.

    It ends after ``limit_ms``, and after ``stall_ms`` (0: never) without a word of progress; when one of ``wake`` is readable it is
    given ``grace_ms`` more and then ends as asked; so it does when ``cancelled`` says so, which is looked at about every second.
    ``progress`` is told (done, total).
    """

    limit_ms: int
    stall_ms: int = 0
    wake: Sequence[int] = ()
    grace_ms: int = 0
    cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda done, total: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the handler's function came to."""

    outcome: codec.AnyOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """The hand died over the call, or was ended: why, its exit code, and the end of what it printed."""

    cause: Cause
    code: int
    text: str


@dataclass(slots=True, kw_only=True)
class Hand:
    """One hand of a worker.  ``environment`` is all that its process gets to see of the worker's."""

    setup: Setup
    environment: Mapping[str, str]
    clock: Clock
    log: Log
    answer_bytes_max: int = limits.HAND_FRAME_BYTES_MAX
    resident_bytes_max: int = limits.HAND_RESIDENT_BYTES_MAX
    process: HandProcess | None = field(default=None, init=False)

    def perform(self, call: Call, watch: Watch) -> Answer | Died:
        """Have the hand carry out a call, starting one if need be.

        Raises ``OSError`` when the machine has no room for a hand, ``FrameTooLargeError`` for a call over the bounds.
        """
        request = frames.encode(requests.encode(call))
        if self.process is not None and not self.process.quiet():
            self.close()
        if self.process is None and (died := self.start(watch)) is not None:
            return died
        got = self._exchange(request, watch, starting=False)
        return self._behaved(got) if isinstance(got, Answer) else self._died(got)

    def start(self, watch: Watch) -> Died | None:
        """Start the hand and wait until it is locked in and has imported its modules; its death if it does not come to that."""
        self.process = hand_process.start(self.environment, self.answer_bytes_max)
        setup = frames.encode(requests.encode_setup(self.setup))
        got = self._exchange(setup, Watch(limit_ms=limits.HAND_START_MS_MAX, wake=watch.wake), starting=True)
        return None if isinstance(got, codec.Ready) else self._died(got)

    def close(self) -> None:
        """End the hand, with all that it started."""
        if self.process is not None:
            self.process.end(Cause.ASKED)
            self.process = None

    def _exchange(self, pieces: Sequence[bytes], watch: Watch, *, starting: bool) -> Answer | codec.Ready | Cause | None:
        """Send a request and wait for its end: an answer, or why the hand must be ended, or None when it has ended itself."""
        exchange = Exchange(process=self._living(), clock=self.clock, watch=watch, pieces=pieces, dump=not starting)
        try:
            while isinstance(got := exchange.next(), Frame):
                data = codec.decode(got)
                if isinstance(data, codec.Progress):
                    watch.progress(data.done, data.total)
                elif isinstance(data, codec.OutOfMemory):
                    return Cause.MEMORY
                elif isinstance(data, codec.Ready):
                    return data if starting else Cause.GARBLED
                else:
                    return Answer(outcome=codec.outcome(data, got.attachments))
        except FrameError as error:
            self.log.warning("hand answered nonsense", what=str(error))
            return Cause.GARBLED
        return got

    def _behaved(self, answer: Answer) -> Answer:
        process = self._living()
        process.served += 1
        if process.served >= limits.HAND_ATTEMPTS_MOST or process.resident_bytes() > self.resident_bytes_max:
            self.close()
        return answer

    def _died(self, got: Answer | codec.Ready | Cause | None) -> Died:
        process, self.process = self._living(), None
        cause, code = process.end(got if isinstance(got, Cause | None) else Cause.GARBLED)
        return Died(cause=cause, code=code, text=process.text())

    def _living(self) -> HandProcess:
        if self.process is None:
            message = "there is no hand"
            raise ProcessLookupError(message)
        return self.process


class Exchange:
    """One request and the frames that answer it."""

    def __init__(self, *, process: HandProcess, clock: Clock, watch: Watch, pieces: Sequence[bytes], dump: bool) -> None:
        now = clock.boot()
        self._process, self._clock, self._watch = process, clock, watch
        self._rest = [memoryview(piece) for piece in pieces]
        self._end = now + watch.limit_ms
        self._dump_at = now + watch.limit_ms // limits.LATE_SHARE if dump else None
        self._asked_end: BootInstant | None = None
        self._frames = 0
        self._heard = now
        process.noise_bytes = 0

    def next(self) -> Frame | Cause | None:
        """The next frame; or why the hand must be ended; or None when it has ended itself.  Raises ``FrameError``."""
        while not self._process.frames:
            ended = self._wait()
            if self._process.frames:
                break
            if ended or (why := self._why_end()) is not None:
                return None if ended else why
        self._frames += 1
        self._heard = self._clock.boot()
        return Cause.GARBLED if self._frames > limits.HAND_FRAMES_MOST else self._process.frames.pop(0)

    def _why_end(self) -> Cause | None:
        now = self._clock.boot()
        if self._process.noise_bytes > limits.HAND_NOISE_BYTES_MAX:
            return Cause.GARBLED
        if now >= self._end:
            return Cause.TIME_LIMIT
        if self._watch.stall_ms and now - self._heard >= self._watch.stall_ms:
            return Cause.HUNG
        if self._asked_end is None and self._watch.cancelled():
            self._asked_end = now
        if self._asked_end is not None and now >= self._asked_end:
            return Cause.ASKED
        if self._dump_at is not None and now >= self._dump_at:
            self._dump_at = None
            os.kill(self._process.pid, signal.SIGUSR1)
        return None

    def _wait(self) -> bool:
        """Wait for the next thing, and take it in; True when the hand has ended."""
        process, waiter = self._process, select.poll()
        heard = [process.answers, process.pidfd, *([] if process.noise_ended else [process.noises])]
        for descriptor in (*heard, *(self._watch.wake if self._asked_end is None else ())):
            waiter.register(descriptor, select.POLLIN)
        if self._rest:
            waiter.register(process.requests, select.POLLOUT)
        ready = {descriptor for descriptor, _ in waiter.poll(self._wait_ms())}
        if ready.intersection(self._watch.wake) and self._asked_end is None:
            self._asked_end = self._clock.boot() + self._watch.grace_ms
        if process.requests in ready:
            self._send()
        if process.noises in ready:
            process.hear_noise()
        return self._hear(ready)

    def _hear(self, ready: set[int]) -> bool:
        process = self._process
        if process.pidfd in ready:
            process.hear_last_answers()
            return True
        return process.answers in ready and not process.hear_answers()

    def _send(self) -> None:
        try:
            sent = os.write(self._process.requests, self._rest[0][:PIPE_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._rest.clear()
            return
        self._rest[0] = self._rest[0][sent:]
        if not self._rest[0]:
            del self._rest[0]

    def _wait_ms(self) -> int:
        times = [time for time in (self._end, self._dump_at, self._asked_end) if time is not None]
        return max(0, min(limits.BEAT_MS, *(time - self._clock.boot() for time in times)))
