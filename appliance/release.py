"""Which release this is: year, number in the year, patch."""

from typing import Final

RELEASE: Final = "2026.1.0"
