"""``appliance`` itself: version, help, and what is no command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.cli.commands import COMMANDS
from tests.crash.appliance_stage import Appliance
from tests.e2e.manners import plain, refused

pytestmark = pytest.mark.crash


def test_the_version_is_one_line(nowhere: Appliance) -> None:
    """Of the form that the release has."""
    done = nowhere.command("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"appliance \d{4}\.\d+\.\d+\S*\n", done.stdout)


def test_no_arguments_give_the_commands(nowhere: Appliance) -> None:
    """With what each is for; the same as ``--help``."""
    helped = nowhere.command("--help")
    assert helped.returncode == 0
    assert all(command.name in helped.stdout and command.help in helped.stdout for command in COMMANDS)
    assert plain(helped.stdout)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_help(nowhere: Appliance, command: object) -> None:
    """Also where no appliance is."""
    done = nowhere.command(command.name, "--help")  # type: ignore[attr-defined]
    assert done.returncode == 0
    assert f"appliance {command.name}" in done.stdout  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nonsense",), "there is no command 'nonsense'"),
        (("jobs", "nonsense"), "invalid choice"),
        (("jobs",), "required"),
        (("submit",), "required"),
        (("status", "--nonsense"), "unrecognized"),
        (("run", "now"), "unrecognized"),
        (("media", "qc"), "required"),
        ((), "required"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(nowhere: Appliance, arguments: tuple[str, ...], says: str) -> None:
    """Exit code 64, and nothing is made in the state folder."""
    refused(nowhere, *arguments, code=64, says=says)
    assert not nowhere.paths.state.exists()


@pytest.mark.parametrize(
    "arguments", [("status",), ("jobs", "list"), ("jobs", "show", "1"), ("submit", "note"), ("media", "report", "1")]
)
def test_where_no_appliance_ever_ran_a_command_says_so(nowhere: Appliance, arguments: tuple[str, ...]) -> None:
    """Exit code 69, and nothing is made there."""
    refused(nowhere, *arguments, code=69, says="there is no ledger")
    assert not nowhere.paths.state.exists()


@pytest.mark.parametrize("arguments", [("status",), ("run",), ("submit", "note")])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[pools.x]\nworkers = 0\n", "pools.x.workers"),
        ("[nonsense]\n", "nonsense"),
        ("this is no toml", "settings.toml"),
        ('[pools."../x"]\nworkers = 1\n', "pools.../x"),
    ],
)
def test_wrong_settings_are_named(nowhere: Appliance, arguments: tuple[str, ...], text: str, says: str) -> None:
    """Exit code 78, with the file and the key."""
    nowhere.settle(text)
    refused(nowhere, *arguments, code=78, says=says)


def test_a_settings_file_that_was_named_must_be_there(nowhere: Appliance, tmp_path: Path) -> None:
    """A typing error in its path does not start an appliance with other settings."""
    (tmp_path / "settings.toml").unlink()
    refused(nowhere, "run", code=78, says="settings.toml")
