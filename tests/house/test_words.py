"""One word per thing: the words that the product does not use, in names, in sentences and in the names of files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from tests.house import tree
from tests.house.tree import Breach, Source

SAY_INSTEAD = {
    "task": "job, part or attempt",
    "subtask": "part",
    "item": "job, part or attempt",
    "phase": "state",
    "flag": "state",
    "node": "slot, or the name of the thing",
    "owner": "holder",
    "token": "fence or lease",
    "epoch": "term",
    "leader": "term, or holder of the term",
    "tip": "remedy",
    "failed": "dead, rejected or unclear",
    "util": "the noun that the file is about",
    "helper": "the noun that the file is about",
    "common": "the noun that the file is about",
    "manager": "the noun that the file is about",
}
ALSO_PLAIN_ENGLISH = {"common", "failed", "flag", "node", "owner", "tip", "token"}  # banned as names, free in a sentence
FILE_WORDS = {"util", "helper", "common", "manager"}
IN_STEP = re.compile(r"\bkeep\b.{0,60}\bin sync\b|\bkept in sync\b|\bmust mirror\b", re.IGNORECASE)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def banned(word: str, free: frozenset[str] = frozenset()) -> str | None:
    """The word to say instead, if this one, or its plural, is not to be used."""
    lower = word.lower()
    single = lower if lower in SAY_INSTEAD else lower.removesuffix("s")
    if lower == "flags" or single in free:  # the kernel's calls take flags
        return None
    return SAY_INSTEAD.get(single)


def names_given(tree_of_file: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every name that a file gives; names that it takes from others are not its own."""
    for node in ast.walk(tree_of_file):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def bad_names(source: Source) -> Iterator[Breach]:
    """The names of a file that use a banned word."""
    for line, name in names_given(ast.parse(source.text)):
        for word in WORD.findall(name):
            if better := banned(word):
                yield Breach(source.path, line, f"the name {name}: say {better} instead of {word}")


def bad_sentences(source: Source) -> Iterator[Breach]:
    """The strings of more than one word, which a person may come to read, that use a banned word."""
    for line, text in tree.strings(ast.parse(source.text)):
        for word in WORD.findall(text) if " " in text.strip() else ():
            if better := banned(word, frozenset(ALSO_PLAIN_ENGLISH)):
                yield Breach(source.path, line, f"a sentence: say {better} instead of {word}")


def bad_file_name(path: str) -> Iterator[Breach]:
    """A file or folder called by what it is for lack of a noun."""
    for part in PurePosixPath(path).parts:
        if any(word.lower().removesuffix("s") in FILE_WORDS for word in WORD.findall(part)):
            yield Breach(path, 1, f"{part} is named after no noun")


def twins(source: Source) -> Iterator[Breach]:
    """The places that ask a person to change two places alike."""
    for line, text in enumerate(source.text.splitlines(), start=1):
        if IN_STEP.search(text):
            yield Breach(source.path, line, "one thing stands in two places: let one be made from the other")


def test_names_and_sentences_use_the_words_of_the_house() -> None:
    """A reader should never have to ask whether two words mean one thing."""
    files = tree.sources("appliance", "scripts")
    tree.hold("words", (breach for source in files for check in (bad_names, bad_sentences) for breach in check(source)))


def test_every_file_is_named_after_a_noun() -> None:
    """What fits nowhere has a noun that was not found yet."""
    tree.hold("file names", (breach for source in tree.texts() for breach in bad_file_name(source.path)))


def test_nothing_has_to_be_changed_in_two_places() -> None:
    """A comment that asks for care is a test that is missing."""
    files = tree.sources("appliance", "scripts") + tree.sources("appliance", suffix=".sql")
    tree.hold("twins", (breach for source in files for breach in twins(source)))


@pytest.mark.parametrize(
    "text", ["def run_task(): ...", "class LockOwner: ...", "def act(job_items): ...", "self.leader = 1", "for epoch in terms: ..."]
)
def test_a_banned_name_is_seen(text: str) -> None:
    """In functions, classes, parameters, attributes and variables."""
    assert len(list(bad_names(Source("appliance/some.py", text)))) == 1


@pytest.mark.parametrize(
    "text", ["for key, value in facts.items(): ...", "os.open(path, flags=os.O_EXCL)", "flags = 1", "multitasking = 1"]
)
def test_a_name_taken_from_others_is_let_through(text: str) -> None:
    """The standard library's words are not ours to choose."""
    assert not list(bad_names(Source("appliance/some.py", text)))


def test_a_banned_word_in_a_sentence_is_seen() -> None:
    """Only in what a person may read: a key of one word is not a sentence, and a docstring is for colleagues."""
    assert len(list(bad_sentences(Source("appliance/some.py", 'message = f"the task {number} is gone"')))) == 1
    assert not list(bad_sentences(Source("appliance/some.py", '"""A task."""\nkey = "task"')))


def test_a_file_without_a_noun_is_seen() -> None:
    """In any folder."""
    assert list(bad_file_name("tests/media/film_helpers.py"))
    assert list(bad_file_name("appliance/utils/text.py"))


def test_a_call_for_care_is_seen() -> None:
    """However it is put."""
    assert list(twins(Source("appliance/some.py", "# keep this list in " + "sync with states.py")))
