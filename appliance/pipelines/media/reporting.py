"""The report: canonical JSON, a function of the film's content, the profile and the engine.

It holds no name, path, time, worker or attempt: who measured what, and how often, is in the ledger.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from appliance import Context, Done, Output
from appliance.pipelines.media import bounds, canonical, framedata, packets, records, seams, signs, verdicts
from appliance.pipelines.media.carry import Carry
from appliance.pipelines.media.coverage import REASONS
from appliance.pipelines.media.folding import KINDS
from appliance.pipelines.media.packets import NONE, Index

REPORT_VERSION: Final = 1
COPIED: Final = ("film", "engine", "profile", "container", "streams", "measured", "timestamps", "plan")


def conclude(context: Context, state: dict[str, Any], output: Output) -> Done:
    """The outcome of the whole film: the verdict and a summary as the result, the report as a file."""
    index = packets.read(context.files["index"])
    found = report(index, Carry(**state), output)
    summary = {
        "verdict": found["verdict"],
        "frames": found["picture"]["frames"],
        "packets": found["plan"]["packets"],
        "parts": found["plan"]["parts"],
        "tests": {test["id"]: test["status"] for test in found["tests"] if test["status"] != verdicts.PASS},
        "film_sha256": found["film"]["sha256"],
        "frame_data_sha256": output.sha256,
    }
    return Done(summary, files={"report.json": canonical.encode(found)})


def report(index: Index, carry: Carry, output: Output) -> dict[str, Any]:
    """The report as JSON."""
    listed, proofs = scanned(output.path, index)
    events = {
        name: {"runs": carry.totals.get(name, [0, 0])[0], "length": carry.totals.get(name, [0, 0])[1], "listed": listed[name]}
        for name in KINDS
    }
    facts: dict[str, Any] = {
        "report": REPORT_VERSION,
        **{name: index.header[name] for name in COPIED},
        "seams": {state: carry.seams.get(state, 0) for state in (seams.PROVEN, seams.UNPROVEN, seams.UNSEEN)} | {"listed": proofs},
        "coverage": {reason: events[reason]["length"] for reason in REASONS} | {"shown": carry.counts.get("shown", 0)},
        "decoder_errors": carry.errors,
        "picture": picture(carry),
        "events": events,
        "frame_data": {"sha256": output.sha256, "size_bytes": output.size_bytes, "layout": framedata.MAGIC.decode()},
    }
    tests = verdicts.answered(facts)
    return {**facts, "tests": tests, "verdict": verdicts.verdict(tests)}


def picture(carry: Carry) -> dict[str, Any]:
    """Totals over all frames; minimum, maximum and sum of each plane."""
    planes = [
        {"min": least, "max": most, "sum": total}
        for least, most, total in zip(carry.least, carry.most, carry.sums, strict=True)
        if least <= most
    ]
    counts = {name: count for name, count in carry.counts.items() if name != "shown"}
    return {"frames": carry.frames, **counts, "shapes": carry.shapes, "planes": planes}


def scanned(path: Path, index: Index) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    """The events that are listed, by kind, and the proof of every seam, from the frame data."""
    listed: dict[str, list[dict[str, Any]]] = {name: [] for name in KINDS}
    proofs: list[dict[str, Any]] = []
    for block in framedata.blocks(path, with_frames=False):
        if block.part:
            proofs.append(block.meta["seam"] or {"at": index.limits(block.part)[0], "state": seams.UNSEEN})
        for event in block.events:
            room = listed[KINDS[event["kind"]]]
            if len(room) < bounds.EVENTS_LISTED_MAX:
                room.append(event_as_json(event, index))
    return listed, proofs


def event_as_json(event: records.Events, index: Index) -> dict[str, Any]:
    """One event: the first frame (or packet) and how many, the packets they came from, and the first one's pts and last one's."""
    name = KINDS[int(event["kind"])]
    at = "frame" if name in signs.RULES else "packet"
    span = {"from_packet": int(event["from_packet"]), "to_packet": int(event["to_packet"])}
    stamps = {"from_pts": stamp(index, span["from_packet"]), "to_pts": stamp(index, span["to_packet"])}
    return {at: int(event["first"]), "length": int(event["count"]), **span, **stamps}


def stamp(index: Index, ordinal: int) -> int | None:
    """The pts of a packet in units of the stream's time base; its dts if it has none; None without either."""
    if ordinal < 0:
        return None
    row = index.rows[ordinal]
    return next((int(row[name]) for name in ("pts", "dts") if row[name] != NONE), None)
