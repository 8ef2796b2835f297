"""The tests of a film: a table of questions, each answered from the facts of the report by a pure function.

``fail``: the film is damaged or lies about itself.  ``warn``: a person should look.  ``not_measured``: the film does not have
what is asked about.  ``error``: we could not measure it, which is a statement about us and never about the film.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Facts = Mapping[str, Any]
Answer = tuple[str, int]  # status, and how many

PASS: Final = "pass"  # noqa: S105 - the word of a verdict
WARN: Final = "warn"
FAIL: Final = "fail"
NOT_MEASURED: Final = "not_measured"
ERROR: Final = "error"
ORDER: Final = (ERROR, FAIL, WARN, PASS)  # the first that any test has is the verdict
PROMISE_SLACK_MS: Final = 500


def none_or(status: str, count: int) -> Answer:
    """``pass`` for none, else the status."""
    return (status if count else PASS), count


def container_complete(facts: Facts) -> Answer:
    """The demuxer came to the end, and found as much video as the header promised."""
    container = facts["container"]
    promised, span = container["promise"]["frames"], container["span_ms"]
    if container["demux_error"]:
        return FAIL, 1
    if promised:
        return none_or(FAIL, max(0, promised - facts["plan"]["packets"]))
    duration = container["promise"]["duration_ms"]
    if duration is None or span is None:
        return none_or(FAIL, int(container["ragged"])) if container["ragged"] else (NOT_MEASURED, 0)
    return none_or(FAIL, max(0, duration - span - PROMISE_SLACK_MS))


def container_whole(facts: Facts) -> Answer:
    """No packet of which the demuxer says that bytes are missing, and none without a byte."""
    corrupt, empty = (facts["container"][name]["packets"] for name in ("corrupt", "empty"))
    return none_or(FAIL if corrupt else WARN, corrupt + empty)


def stamps(name: str, status: str) -> Callable[[Facts], Answer]:
    """A test of one kind of finding in the time stamps."""

    def test(facts: Facts) -> Answer:
        found = facts["timestamps"][name]["packets"]
        if name != "missing" and facts["timestamps"]["missing"]["packets"] == facts["plan"]["packets"]:
            return NOT_MEASURED, 0
        return none_or(status, found)

    return test


def missing(facts: Facts) -> Answer:
    """Packets without any time stamp, unless none has one (raw streams)."""
    found = facts["timestamps"]["missing"]["packets"]
    return (NOT_MEASURED, found) if found == facts["plan"]["packets"] else none_or(WARN, found)


def decoded(facts: Facts) -> Answer:
    """The decoder refused no packet and guessed no picture."""
    return none_or(FAIL, facts["coverage"]["error"] + facts["events"]["corrupt"]["length"])


def errors(facts: Facts) -> Answer:
    """The decoder gave no error."""
    return none_or(FAIL, sum(facts["decoder_errors"].values()))


def starts(facts: Facts) -> Answer:
    """The film does not begin with pictures that cannot be decoded."""
    return none_or(WARN, facts["coverage"]["leading"])


def covered(facts: Facts) -> Answer:
    """Every part was measured."""
    return none_or(ERROR, facts["coverage"]["dead"])


def seamless(facts: Facts) -> Answer:
    """Every seam between parts is proven."""
    return none_or(WARN, facts["plan"]["parts"] - 1 - facts["seams"]["proven"])


def black(facts: Facts) -> Answer:
    """No long black."""
    return none_or(
        WARN, sum(event["length"] >= facts["profile"]["black_frames_warn"] for event in facts["events"]["black"]["listed"])
    )


def events(name: str) -> Callable[[Facts], Answer]:
    """A test that there is no event of one kind."""
    return lambda facts: none_or(WARN, facts["events"][name]["runs"])


def pictured(facts: Facts) -> Answer:
    """At least one picture was shown."""
    return (PASS, facts["picture"]["frames"]) if facts["picture"]["frames"] else (FAIL, 0)


TESTS: Final[Mapping[str, Callable[[Facts], Answer]]] = {
    "container.complete": container_complete,
    "container.whole": container_whole,
    "timestamps.missing": missing,
    "timestamps.doubled": stamps("doubled", WARN),
    "timestamps.backward": stamps("backward", WARN),
    "timestamps.gapped": stamps("gapped", WARN),
    "timestamps.wrapped": stamps("wrapped", PASS),
    "decode.errors": errors,
    "decode.pictures": decoded,
    "decode.start": starts,
    "coverage.parts": covered,
    "coverage.seams": seamless,
    "picture.any": pictured,
    "picture.black": black,
    "picture.repeat": events("repeat"),
    "picture.freeze": events("freeze"),
    "picture.range": events("range"),
    "picture.change": events("change"),
}


def answered(facts: Facts) -> list[dict[str, str | int]]:
    """Every test with its status and count, in the order of the table."""
    answers = ((name, test(facts)) for name, test in TESTS.items())
    return [{"id": name, "status": status, "count": count} for name, (status, count) in answers]


def verdict(tests: list[dict[str, str | int]]) -> str:
    """The worst of all statuses."""
    found = {test["status"] for test in tests}
    return next((status for status in ORDER if status in found), NOT_MEASURED)
