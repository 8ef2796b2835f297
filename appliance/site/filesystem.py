"""What kind of filesystem a folder is on, and whether a ledger may live there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from appliance import errors

NETWORK: Final = frozenset(
    (
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "afs",
        "ceph",
        "glusterfs",
        "lustre",
        "gfs2",
        "ocfs2",
        "fuse.sshfs",
        "fuse.glusterfs",
    )
)
WARNED: Final = {
    "overlay": "an overlay may lose the ledger with its container",
    "tmpfs": "a tmpfs loses the ledger at the next boot",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """The mount that a path is on."""

    point: str
    kind: str


def mount_of(path: Path, mountinfo: str | None = None) -> Mount:
    """The mount of a path, by the longest mount point that contains it (proc(5), mountinfo)."""
    text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace") if mountinfo is None else mountinfo
    real = os.path.realpath(path)
    best = Mount(point="/", kind="unknown")
    for line in text.splitlines():
        fields = line.split()
        point = fields[4].encode().decode("unicode_escape")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best.point):
            best = Mount(point=point, kind=fields[fields.index("-") + 1])
    return best


def require_local(path: Path, mountinfo: str | None = None) -> str | None:
    """A warning for a filesystem that is not meant for this, None for a good one.

    Raises ``StorageUnsuitableError`` on a network filesystem: its locks and shared memory do not hold what a WAL database needs.
    """
    mount = mount_of(path, mountinfo)
    if mount.kind in NETWORK:
        message = f"{path} is on {mount.kind} ({mount.point}), a network filesystem"
        raise errors.StorageUnsuitableError(message)
    return WARNED.get(mount.kind)
