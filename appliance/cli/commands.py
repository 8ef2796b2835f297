"""The commands, as a table; each has a module that is loaded only when it is called."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from appliance.errors import UsageError
from appliance.release import RELEASE


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command: its name, what it is for, and the module with ``configure(parser)`` and ``main(arguments)``."""

    name: str
    help: str
    module: str


COMMANDS: Final = (
    Command(name="run", help="be the appliance, in the foreground", module="appliance.cli.run"),
    Command(name="submit", help="hand in work", module="appliance.cli.submit"),
    Command(name="jobs", help="list, show, cancel or retry jobs", module="appliance.cli.jobs"),
    Command(name="status", help="how the appliance is, in one view", module="appliance.cli.status"),
    Command(name="media", help="quality control of films", module="appliance.cli.media"),
)


class Parser(argparse.ArgumentParser):
    """argparse, with our way of saying what is wrong; an option is meant as it is typed, not as it begins."""

    def __init__(self, **how: Any) -> None:  # noqa: ANN401 - the options of argparse
        super().__init__(**{"allow_abbrev": False} | how)

    def error(self, message: str) -> NoReturn:
        """Raise ``UsageError``."""
        text = f"{message}\n{self.format_usage().rstrip()}"
        raise UsageError(text)


def parser() -> Parser:
    """The options that all commands share."""
    top = Parser(
        prog="appliance",
        description="Durable work on one box: takes jobs in, loses none, repairs itself, and tells how it is.",
        epilog="commands:\n" + "\n".join(f"  {command.name:8} {command.help}" for command in COMMANDS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="appliance [--state DIR] [--config FILE] COMMAND ...",
    )
    top.add_argument("--version", action="version", version=f"appliance {RELEASE}")
    top.add_argument("--state", type=Path, metavar="DIR", help="the state directory (default: that of the service or the user)")
    top.add_argument("--config", type=Path, metavar="FILE", help="read the settings from this file alone")
    top.add_argument("command", metavar="COMMAND", help=argparse.SUPPRESS)
    top.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return top


def dispatch(argv: Sequence[str]) -> int:
    """Do the command that the arguments name.

    Raises ``UsageError``, and whatever the command raises.
    """
    top = parser()
    if not argv:
        top.print_help()
        return 0
    shared = top.parse_args(argv)
    command = next((each for each in COMMANDS if each.name == shared.command), None)
    if command is None:
        names = ", ".join(each.name for each in COMMANDS)
        message = f"there is no command {shared.command!r}; the commands are {names}"
        raise UsageError(message)
    module = importlib.import_module(command.module)
    own = Parser(prog=f"appliance {command.name}", description=module.__doc__)
    own.set_defaults(state=shared.state, config=shared.config)
    module.configure(own)
    return int(module.main(own.parse_args(shared.rest)))
