"""Every error says what to do next, and every class of error when it is raised."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import ClassVar

import pytest

from appliance.errors import ApplianceError
from tests.house import tree
from tests.house.test_floors import module_of
from tests.house.tree import Breach

EXIT_CODES = {1, *range(64, 79)}  # sysexits.h, and 1 for an answer that is a plain no


def children(parent: type[ApplianceError]) -> Iterator[type[ApplianceError]]:
    """All classes below, at any depth."""
    for child in parent.__subclasses__():
        yield child
        yield from children(child)


def shortcomings(error: type[ApplianceError]) -> Iterator[Breach]:
    """What an error lacks, of all that its reader needs."""
    path = error.__module__.replace(".", "/") + ".py"
    if not error.__name__.endswith("Error"):
        yield Breach(path, 1, f"{error.__name__} is not called an error")
    if "remedy" not in vars(error) or not error.remedy.strip():
        yield Breach(path, 1, f"{error.__name__} has no remedy of its own")
    if error.remedy.strip().endswith("."):
        yield Breach(path, 1, f"{error.__name__}: a remedy follows `remedy:`, without a full stop")
    if not (error.__doc__ or "").strip():
        yield Breach(path, 1, f"{error.__name__} does not say when it is raised")
    if error.exit_code not in EXIT_CODES:
        yield Breach(path, 1, f"{error.__name__} ends the process with {error.exit_code}, which sysexits.h does not know")


def test_every_error_has_a_remedy() -> None:
    """An error text without a next step leaves its reader alone."""
    for source in tree.sources("appliance"):
        if "ApplianceError" in source.text:
            importlib.import_module(module_of(source.path))
    ours = [child for child in children(ApplianceError) if child.__module__.startswith("appliance.")]
    tree.hold("remedies", (breach for error in ours for breach in shortcomings(error)))
    assert len(ours) > 1


def test_an_error_without_a_remedy_cannot_be_defined() -> None:
    """The class statement itself refuses."""
    with pytest.raises(TypeError, match="remedy"):
        type("BareError", (ApplianceError,), {"__module__": __name__})
    with pytest.raises(TypeError, match="needs a remedy"):
        type("BlankError", (ApplianceError,), {"__module__": __name__}, remedy="  ")


def test_an_error_that_lacks_anything_is_seen() -> None:
    """One class that lacks everything at once."""

    class Oops(ApplianceError, remedy="do something."):  # noqa: N818 - the name is one of its shortcomings
        exit_code: ClassVar[int] = 3

    Oops.exit_code = 3
    Oops.__doc__ = None
    assert len(list(shortcomings(Oops))) == 4
    assert inspect.getdoc(ApplianceError)
