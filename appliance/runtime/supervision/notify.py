"""What systemd is told, by datagrams to the address it gave (sd_notify(3)); without an address nothing happens."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass

from appliance import limits

USEC = 1_000


@dataclass(frozen=True, slots=True)
class Notifier:
    """The way to the service manager."""

    address: str | None = None

    def ready(self) -> None:
        """All is started."""
        self._send("READY=1")

    def stopping(self) -> None:
        """The stop has begun."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Feed the watchdog."""
        self._send("WATCHDOG=1")

    def more_time(self, ms: int = 3 * limits.LOOP_MS_MAX) -> None:
        """The start goes on, and is not stuck: ask for so much more time."""
        self._send(f"EXTEND_TIMEOUT_USEC={ms * USEC}")

    def say(self, sentence: str) -> None:
        """The sentence that ``systemctl status`` shows."""
        self._send(f"STATUS={sentence}")

    def _send(self, text: str) -> None:
        if not self.address:
            return
        name = "\0" + self.address[1:] if self.address.startswith("@") else self.address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.settimeout(0)
            channel.sendto(text.encode("utf-8"), name)
