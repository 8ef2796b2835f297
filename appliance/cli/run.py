"""Be the appliance: supervise its processes in the foreground until TERM or Ctrl-C."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from appliance import wiring
from appliance.cli import access
from appliance.clock import SYSTEM


def configure(parser: ArgumentParser) -> None:
    """No options beside the shared ones."""
    parser.epilog = "A second Ctrl-C stops at once.  SIGHUP reads the settings again; on a terminal, closing it is a stop."


def main(arguments: Namespace) -> int:
    """Supervise."""
    return wiring.run(access.paths(arguments), SYSTEM, access.log())
