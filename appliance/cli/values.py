"""What may stand behind an option: the types of argparse, bounded by what the ledger can hold."""

from __future__ import annotations

import argparse
import math
from typing import Final

LEDGER_MOST: Final = (1 << 63) - 1


def whole(text: str) -> int:
    """A whole number that the ledger can hold."""
    try:
        number = int(text)
    except ValueError:
        number = LEDGER_MOST + 1
    if abs(number) > LEDGER_MOST:
        message = f"{text!r:.40} is not a whole number of a usual size"
        raise argparse.ArgumentTypeError(message)
    return number


def seconds(text: str) -> float:
    """A length of time, which has an end."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        message = f"{text!r:.40} is not a number of seconds"
        raise argparse.ArgumentTypeError(message)
    return number
