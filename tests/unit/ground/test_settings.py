"""Settings: layers are merged before defaults are filled in, and what is wrong is said with its key."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance import settings
from appliance.errors import FolderNotMadeError, FolderNotOursError, SettingsError
from appliance.site import config
from appliance.site.config import Paths

NUMBERS = st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3)
TABLES = st.fixed_dictionaries(
    {}, optional={"pools": st.dictionaries(st.sampled_from("xy"), NUMBERS), "stop": NUMBERS, "list": st.lists(st.integers())}
)


def paths(folder: Path, *files: str, named: bool = False) -> Paths:
    """Paths whose settings files have these texts, lowest first."""
    made = []
    for number, text in enumerate(files):
        path = folder / f"{number}.toml"
        path.write_text(text)
        made.append(path)
    return Paths(state=folder / "state", runtime=folder / "runtime", settings=tuple(made), named=named)


def test_a_later_layer_does_not_reset_what_it_does_not_name(tmp_path: Path) -> None:
    """The lower file's number of workers survives a higher file that only isolates the pool."""
    found, _ = config.load(paths(tmp_path, "[pools.a]\nworkers = 7\n", "[pools.a]\nisolated = true\n"))
    assert found.pools["a"] == settings.Pool(workers=7, isolated=True)


def test_an_empty_appliance_has_one_default_pool() -> None:
    """Without any file there is somebody to work."""
    found, findings = settings.read([])
    assert found is not None
    assert (list(found.pools), findings) == (["default"], [])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[pools.a]\nworkers = 0\n", "pools.a.workers"),
        ('[stop]\nseconds = "soon"\n', "stop.seconds"),
        ("[storage]\nfast = true\n", "storage"),
        ("[store]\nsafe_overwrites = true\n", "safe_overwrites"),
        ("stop = 5\n", "stop"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(text: str, key: str, tmp_path: Path) -> None:
    """Whoever typed it finds the place."""
    with pytest.raises(SettingsError) as raised:
        config.load(paths(tmp_path, text))
    assert key in str(raised.value)
    assert "0.toml" in str(raised.value)


@pytest.mark.parametrize("content", [b"[pools\n", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_an_error_with_its_name(content: bytes, tmp_path: Path) -> None:
    """A torn or foreign file never counts as an empty one."""
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"broken\.toml"):
        config.load(Paths(state=tmp_path, runtime=tmp_path, settings=(path,)))


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    """A default file may be missing; one that a person named may not."""
    missing = (tmp_path / "missing.toml",)
    config.load(Paths(state=tmp_path, runtime=tmp_path, settings=missing))
    with pytest.raises(SettingsError, match=r"missing\.toml"):
        config.load(Paths(state=tmp_path, runtime=tmp_path, settings=missing, named=True))


def test_folders_of_handlers_are_meant_from_the_file_that_names_them(tmp_path: Path) -> None:
    """An appliance started elsewhere finds the same modules."""
    found, _ = config.load(paths(tmp_path, '[handlers]\npaths = ["shop", "/vendor"]\n'))
    assert found.handlers.paths == (str(tmp_path / "shop"), "/vendor")


def test_a_pool_with_an_odd_name_is_a_finding() -> None:
    """Names of pools become names of processes."""
    _, findings = settings.read([{"pools": {"a b": {}}}])
    assert [finding.key for finding in findings] == ["pools.a b"]


@given(TABLES, TABLES, TABLES)
def test_merging_is_associative(low: dict[str, object], middle: dict[str, object], high: dict[str, object]) -> None:
    """Of layers of one shape it does not matter in which order they are put together, only which lies above which."""
    assert settings.merge([low, middle, high]) == settings.merge([low, settings.merge([middle, high])])


@given(TABLES)
def test_merging_with_nothing_changes_nothing(table: dict[str, object]) -> None:
    """An empty file is no layer."""
    assert settings.merge([table, {}]) == settings.merge([{}, table]) == table


def test_settings_written_as_toml_read_back_the_same() -> None:
    """What the product writes, it reads."""
    table = {"pools": {"media": {"workers": 3}}, "handlers": {"modules": ["a.b"]}}
    assert tomllib.loads(config.dump(table)) == table


def test_systemd_says_where_things_are() -> None:
    """Its variables come first; only the first of several folders counts."""
    found = config.paths({"STATE_DIRECTORY": "/var/lib/appliance:/var/lib/other", "RUNTIME_DIRECTORY": "/run/appliance"})
    assert (found.state, found.runtime) == (Path("/var/lib/appliance"), Path("/run/appliance"))


def test_two_state_folders_never_share_a_runtime_folder(tmp_path: Path) -> None:
    """Also where systemd's variable names one for the service, a folder of one's own has its own."""
    variables = {"RUNTIME_DIRECTORY": "/run/appliance"}
    one, two = (config.paths(variables, state=tmp_path / name).runtime for name in ("one", "two"))
    assert len({one, two, Path("/run/appliance")}) == 3


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """A link where the folder should be could lead anywhere."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FolderNotOursError):
        Paths(state=tmp_path / "state", runtime=tmp_path / "runtime", settings=()).make()


def test_a_folder_that_cannot_be_made_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    """A file in the way is not a fault of ours."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FolderNotMadeError, match="cannot be made"):
        Paths(state=tmp_path / "file" / "state", runtime=tmp_path / "runtime", settings=()).make()


def test_both_folders_are_for_their_user_alone(tmp_path: Path) -> None:
    """Payloads and results are nobody else's business."""
    made = Paths(state=tmp_path / "state", runtime=tmp_path / "runtime", settings=()).make()
    assert [folder.stat().st_mode & 0o777 for folder in (made.state, made.runtime)] == [0o700, 0o700]
