"""Limits: units, bounds, and how two sets combine."""

import dataclasses
import math
import pickle

import pytest

from csandbox import GiB, KiB, Limits, MiB, ProfileError


def test_every_field_is_optional():
    assert all(value is None for value in Limits().to_dict().values())


def test_wall_follows_cpu():
    assert Limits(cpu_s=2).effective_wall_s() == 7.0
    assert Limits(cpu_s=2, wall_s=3).effective_wall_s() == 3.0
    assert Limits().effective_wall_s() is None


def test_wall_may_be_below_cpu():
    assert Limits(cpu_s=10, wall_s=2).wall_s == 2.0


@pytest.mark.parametrize("field", Limits().to_dict())
@pytest.mark.parametrize(
    "value", [0, -1, -0.5, math.nan, math.inf, True, False, "5", [1], 1j, b"5"]
)
def test_nonsense_is_refused_with_field_and_unit(field, value):
    with pytest.raises(ProfileError) as caught:
        Limits(**{field: value})
    assert field in str(caught.value)
    assert caught.value.key == f"limits.{field}"
    units = ("seconds", "bytes", "threads", "descriptors", "files and folders")
    assert any(unit in str(caught.value) for unit in units)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("field", [f for f in Limits().to_dict() if not f.endswith("_s")])
def test_counts_and_bytes_are_whole(field):
    with pytest.raises(ProfileError, match="whole number"):
        Limits(**{field: 1e9})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cpu_s", 0.001),
        ("memory_bytes", MiB),
        ("stack_bytes", 1024),
        ("open_files", 3),
        ("startup_s", 0.01),
    ],
)
def test_below_what_an_interpreter_needs(field, value):
    with pytest.raises(ProfileError, match="at least"):
        Limits(**{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [("cpu_s", 10**9), ("wall_s", 1e12), ("memory_bytes", 2**62), ("output_bytes", 2**40)],
)
def test_absurdly_large_asks_for_the_unit(field, value):
    with pytest.raises(ProfileError, match="is the unit"):
        Limits(**{field: value})


def test_stack_above_memory_is_a_contradiction():
    with pytest.raises(ProfileError, match="stack_bytes"):
        Limits(memory_bytes=64 * MiB, stack_bytes=64 * MiB)


def test_merge_takes_what_is_set():
    merged = Limits(cpu_s=5, memory_bytes=512 * MiB).merge(Limits(memory_bytes=GiB))
    assert (merged.cpu_s, merged.memory_bytes) == (5.0, GiB)
    assert Limits(cpu_s=5).merge(None) == Limits(cpu_s=5)


def test_merge_new_cpu_drops_the_old_wall():
    old = Limits(cpu_s=5, wall_s=16)
    assert old.merge(Limits(cpu_s=60)).effective_wall_s() == 181.0
    assert old.merge(Limits(cpu_s=60, wall_s=70)).effective_wall_s() == 70.0
    assert old.merge(Limits(memory_bytes=GiB)).effective_wall_s() == 16.0


def test_merge_fits_the_inherited_stack_into_less_memory():
    merged = Limits(memory_bytes=512 * MiB, stack_bytes=64 * MiB).merge(
        Limits(memory_bytes=64 * MiB)
    )
    assert merged.stack_bytes == 32 * MiB
    assert merged.memory_bytes == 64 * MiB


def test_frozen_and_picklable():
    limits = Limits(cpu_s=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        limits.cpu_s = 2
    assert pickle.loads(pickle.dumps(limits)) == limits
    assert len({limits, Limits(cpu_s=1.0)}) == 1


def test_repr_shows_only_what_is_set():
    assert repr(Limits(cpu_s=1, threads=4)) == "Limits(cpu_s=1.0, threads=4)"


def test_from_mapping_names_the_nearest():
    assert Limits.from_mapping({"cpu_s": 1}) == Limits(cpu_s=1)
    with pytest.raises(ProfileError, match="did you mean memory_bytes"):
        Limits.from_mapping({"memory": 1})


def test_complete_says_what_is_missing():
    with pytest.raises(ProfileError, match="no value for limits"):
        Limits(cpu_s=1).complete()


def test_units():
    assert (KiB, MiB, GiB) == (2**10, 2**20, 2**30)
