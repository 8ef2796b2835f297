"""The kind ``media.qc``: quality control of one film, in parts.  Thin: each function says which module does the work.

Payload: ``{"path": absolute path, "profile": name}``.  Result: verdict and summary.  Files: ``report.json``; the output of the
fold is the frame data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from appliance import Context, Done, Folded, Output, Part, Redo, Reject, Retry, Split, job
from appliance.pipelines.media import bounds, folding, indexing, measure, packets, profiles, reporting
from appliance.pipelines.media.carry import Carry
from appliance.pipelines.media.refusals import CancelledError, Refusal, RefusedError

DEFAULT_PROFILE = "default"


def asked(payload: object) -> tuple[Path, str]:
    """The path and the profile's name of a payload; raises ``RefusedError`` if it is something else."""
    if not isinstance(payload, dict) or not set(payload) <= {"path", "profile"}:
        raise RefusedError(Refusal.PAYLOAD)
    path, profile = payload.get("path"), payload.get("profile", DEFAULT_PROFILE)
    if not isinstance(path, str) or not isinstance(profile, str) or "\0" in path or not Path(path).is_absolute():
        raise RefusedError(Refusal.PAYLOAD)
    return Path(path), profile


def measure_part(context: Context, payload: object) -> Done | Reject | Retry:
    """Measure one part, and make sure that film and engine are still those of the plan."""
    try:
        path, _ = asked(payload)
        index = packets.read(context.files["index"])
        measure.planned_here(index)
        measure.unchanged(path, index)
        done = measure.measure(context, path, index)
        measure.unchanged(path, index)
    except RefusedError as refused:
        return Reject(str(refused))
    except CancelledError:
        return Retry("the job was asked to stop")
    return done


def fold_part(context: Context, _payload: object, state: dict[str, Any], part: Part) -> Folded | Redo:
    """Fold one part."""
    return folding.fold(context, state, part)


def conclude(context: Context, _payload: object, state: dict[str, Any], output: Output) -> Done:
    """Write the report."""
    return reporting.conclude(context, state, output)


@job(
    "media.qc",
    pool="media",
    time_limit_ms=bounds.ATTEMPT_MS_MAX,
    stall_ms=bounds.STALL_MS,
    memory_bytes_max=bounds.MEMORY_BYTES_MAX,
    part=measure_part,
    fold=fold_part,
    conclude=conclude,
)
def qc(context: Context, payload: object) -> Split | Reject | Retry:
    """Index a film, plan its parts, and split."""
    try:
        path, name = asked(payload)
        header, rows = indexing.index(path, profiles.profile_of(name), context)
    except RefusedError as refused:
        return Reject(str(refused))
    except CancelledError:
        return Retry("the job was asked to stop")
    return Split(
        count=header["plan"]["parts"],
        window=bounds.WINDOW_PARTS,
        state=Carry().as_json(),
        files={"index": packets.pack(header, rows)},
        on_dead="fold",
    )
