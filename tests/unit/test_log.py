"""The log never makes anybody wait."""

from __future__ import annotations

import json
import os

from appliance.log import LINE_BYTES_MAX, Log


def lines(reader: int) -> list[dict[str, object]]:
    """What a pipe holds, line by line."""
    os.set_blocking(reader, False)
    came = b""
    try:
        while part := os.read(reader, 1 << 16):
            came += part
    except BlockingIOError:
        pass
    return [json.loads(line) for line in came.splitlines()]


def test_a_reader_that_stands_still_costs_lines_and_no_time() -> None:
    """A full pipe has no room; the writer goes on, and the lines that fitted are whole."""
    reader, writer = os.pipe()
    log = Log(wall_ms=lambda: 7, descriptor=writer)
    for number in range(2_000):
        log.info("something", number=number, filler="x" * 500)
    heard = lines(reader)
    assert 0 < len(heard) < 2_000
    assert [line["number"] for line in heard] == list(range(len(heard)))
    os.close(reader)
    os.close(writer)


def test_a_line_too_long_for_one_write_is_cut_and_says_so() -> None:
    """Lines of several processes do not mix, whatever somebody puts into one."""
    reader, writer = os.pipe()
    Log(wall_ms=lambda: 7, descriptor=writer).warning("large", **{f"fact{number}": "y" * 1_000 for number in range(9)})
    (line,) = lines(reader)
    assert line["event"] == "large"
    assert isinstance(line["cut"], int)
    assert line["cut"] > LINE_BYTES_MAX
    os.close(reader)
    os.close(writer)


def test_facts_that_were_bound_are_in_every_line() -> None:
    """A worker's name need not be said again."""
    reader, writer = os.pipe()
    Log(wall_ms=lambda: 7, descriptor=writer).bind(child="worker-1").error("gone", cause="signal")
    assert lines(reader) == [{"at_ms": 7, "level": "error", "event": "gone", "child": "worker-1", "cause": "signal"}]
    os.close(reader)
    os.close(writer)
