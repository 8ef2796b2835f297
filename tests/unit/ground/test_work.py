"""Canonical JSON: what a payload may be, to the byte, and what is refused in one sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance import errors, limits
from appliance.coordination.outcomes import Json
from appliance.coordination.work import cut, digest, encode, is_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def nested(depth: int) -> Any:  # noqa: ANN401 - JSON of any depth
    """Lists inside each other."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


@given(value=JSON)
def test_json_comes_back_as_it_was(value: Json) -> None:
    """Every value that JSON has, NUL and the other planes of Unicode included."""
    assert json.loads(encode(value, limits.PAYLOAD_BYTES_MAX, "payload")) == value


@given(value=st.dictionaries(st.text(max_size=3), st.integers(), max_size=6))
def test_the_order_of_keys_does_not_change_the_bytes_p2(value: dict[str, Json]) -> None:
    """So equal payloads have equal digests, and are the same work."""
    turned = dict(reversed(value.items()))
    assert encode(value, 1 << 20, "payload") == encode(turned, 1 << 20, "payload")


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        [float("-inf")],
        b"bytes",
        {1, 2},
        object(),
        "\ud800",
        {"\udfff": 1},
        {1: "a", "1": "b"},
        {("a",): 1},
        10**5000,
        1j,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_is_refused(value: Any) -> None:  # noqa: ANN401 - the wrong type is the point
    """In one sentence; no value of a handler's makes the worker stumble."""
    with pytest.raises(errors.PayloadError, match="is not JSON"):
        encode(value, limits.PAYLOAD_BYTES_MAX, "payload")


def test_a_value_that_contains_itself_is_refused() -> None:
    """It has no end."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(errors.PayloadError):
        encode(value, limits.PAYLOAD_BYTES_MAX, "payload")


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_limit_is_counted_in_bytes_of_utf_8(more: int) -> None:
    """The two quotation marks count."""
    text = "é" * ((limits.PAYLOAD_BYTES_MAX - 2) // 2 - 1) + "x" * (2 + more)
    if more > 0:
        with pytest.raises(errors.PayloadError, match="are allowed"):
            encode(text, limits.PAYLOAD_BYTES_MAX, "payload")
    else:
        assert len(encode(text, limits.PAYLOAD_BYTES_MAX, "payload").encode()) == limits.PAYLOAD_BYTES_MAX + more


@pytest.mark.parametrize("depth", [limits.JSON_DEPTH_MOST + 1, 900, 100_000])
def test_a_value_that_nests_too_deep_is_refused_p13(depth: int) -> None:
    """Whoever reads it back stands deeper in its own calls than whoever wrote it."""
    value = nested(depth)
    with pytest.raises(errors.PayloadError):
        encode(value, limits.PAYLOAD_BYTES_MAX, "payload")
    while value:  # taken apart by hand: a deep list is freed by recursion
        value = value.pop()


def test_the_deepest_value_allowed_is_taken() -> None:
    """Lists and objects count alike, and wide values are not deep ones."""
    encode(nested(limits.JSON_DEPTH_MOST), limits.PAYLOAD_BYTES_MAX, "payload")
    encode([{"a": []}] * 500, limits.PAYLOAD_BYTES_MAX, "payload")


@pytest.mark.parametrize("value", [(1 << 63) - 1, 1 << 63, -(1 << 70), 10**300, 5e-324, 1.7976931348623157e308, -0.0])
def test_numbers_keep_every_digit(value: float) -> None:
    """Whatever the engine's own integers can hold: a payload is text."""
    assert repr(json.loads(encode(value, limits.PAYLOAD_BYTES_MAX, "payload"))) == repr(value)


def test_a_digest_is_that_of_the_bytes() -> None:
    """SHA-256 of UTF-8, in hexadecimal."""
    assert digest("é") == "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"


@given(text=st.text(st.characters(exclude_categories=()), max_size=50))
def test_a_cut_text_can_always_be_stored(text: str) -> None:
    """Lone surrogates of broken file names and decoders included."""
    assert is_text(cut(text) or "")


def test_a_long_text_is_cut_to_its_bound() -> None:
    """With a sign that something is missing."""
    whole = "x" * limits.TEXT_CHARS_MAX
    assert cut(whole) == whole
    shorter = cut(whole + "y") or ""
    assert (len(shorter), shorter[-1]) == (limits.TEXT_CHARS_MAX, "…")
    assert cut(None) is None
