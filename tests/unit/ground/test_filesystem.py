"""Which filesystems may carry a ledger, by the kernel's own table of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import StorageUnsuitableError
from appliance.site import filesystem

MOUNTS = """\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:25 / /run rw,nosuid,nodev shared:5 - tmpfs tmpfs rw,size=10%
41 22 0:44 / /srv/films rw,relatime shared:9 - nfs4 server:/films rw,vers=4.2
42 22 0:45 / /srv/with\\040blank rw,relatime - cifs //server/share rw
43 22 0:46 / /mnt/o rw,relatime - overlay overlay rw,lowerdir=/a
44 22 0:47 / /srv/filmsarchive rw,relatime - xfs /dev/sdb1 rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib", "ext4"),
        ("/run/x", "tmpfs"),
        ("/srv/films/a", "nfs4"),
        ("/srv/filmsarchive", "xfs"),
        ("/srv/with blank/y", "cifs"),
    ],
)
def test_a_path_is_on_the_mount_that_contains_it_most_closely(path: str, kind: str) -> None:
    """A folder beside a mount point is not on it, however alike their names are."""
    assert filesystem.mount_of(Path(path), MOUNTS).kind == kind


@pytest.mark.parametrize("path", ["/srv/films", "/srv/with blank/state"])
def test_a_network_filesystem_is_refused_by_name(path: str) -> None:
    """Its locks do not hold what a WAL database needs."""
    with pytest.raises(StorageUnsuitableError, match="network filesystem"):
        filesystem.require_local(Path(path), MOUNTS)


@pytest.mark.parametrize("path", ["/mnt/o/state", "/run/state"])
def test_a_filesystem_that_forgets_is_a_warning(path: str) -> None:
    """An overlay or a tmpfs works, and loses the ledger with its container or at the next boot."""
    assert "loses" in str(filesystem.require_local(Path(path), MOUNTS)) or "lose" in str(
        filesystem.require_local(Path(path), MOUNTS)
    )


def test_a_local_disk_is_fine() -> None:
    """No warning where there is nothing to warn of."""
    assert filesystem.require_local(Path("/var/lib/appliance"), MOUNTS) is None


def test_the_machine_that_runs_the_tests_has_a_kind_of_filesystem(tmp_path: Path) -> None:
    """The real table is read the same way."""
    assert filesystem.mount_of(tmp_path).kind != "unknown"
