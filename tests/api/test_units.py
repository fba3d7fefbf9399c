"""Quantities as people write them."""

import pytest

from csandbox._units import format_bytes, parse_bytes, parse_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2", 2.0), ("2s", 2.0), ("1.5s", 1.5), ("250ms", 0.25), (" 1 m ", 60.0), ("1h", 3600.0)],
)
def test_seconds(text, seconds):
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("64k", 65536),
        ("512MiB", 512 << 20),
        ("1GB", 10**9),
        ("1.5GiB", 3 << 29),
        ("7 b", 7),
    ],
)
def test_bytes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "s", "-1s", "1e3", "nan", "inf", "1 2", "٣s", "0x10"])
def test_not_a_quantity(text):
    with pytest.raises(ValueError, match=r"write for example|unknown unit"):
        parse_seconds(text)
    with pytest.raises(ValueError, match=r"write for example|unknown unit"):
        parse_bytes(text)


def test_unknown_unit_lists_the_known():
    with pytest.raises(ValueError, match=r"unknown unit 'parsec'; known units: s, ms"):
        parse_seconds("3parsec")


def test_part_of_a_byte():
    with pytest.raises(ValueError, match="whole number of bytes"):
        parse_bytes("0.3b")


def test_format():
    assert [format_bytes(n) for n in (12, 1536, 512 << 20, 3 << 30)] == [
        "12 B",
        "1.5 KiB",
        "512 MiB",
        "3 GiB",
    ]
