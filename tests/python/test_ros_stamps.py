"""Stamps of a node's messages without `/clock`: simulated time and one anchor of the wall."""

from __future__ import annotations

import pytest

pytest.importorskip("rosbags", reason="needs the extra ros")

from mvsim_gym.ros.topics import Stamps

START = 1_700_000_000 * 10**9  # ns


class Wall:
    """A clock of the wall that a test turns."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> float:
        return self.seconds

    def ns(self) -> int:
        return START + round((self.seconds - 100) * 1e9)


@pytest.fixture
def wall() -> Wall:
    return Wall()


def test_a_clock_is_simulated_time(wall: Wall) -> None:
    stamps = Stamps(3.0, True, wall.now, wall.ns)
    assert stamps.advance(3.5) == 3_500_000_000 and stamps.at(3.25) == 3_250_000_000


def test_stamps_differ_by_simulated_time_while_the_loop_catches_up(wall: Wall) -> None:
    stamps = Stamps(2.0, False, wall.now, wall.ns)
    told = []
    for k in range(1, 101):
        wall.seconds += 0.9 if k == 50 else 0.001  # a pause of the scheduler, then ten steps at once
        told.append(stamps.advance(2.0 + 0.01 * k))
    assert told == [START + 10_000_000 * k for k in range(1, 101)]


def test_stamps_go_on_with_the_wall_after_a_halt(wall: Wall) -> None:
    stamps = Stamps(0.0, False, wall.now, wall.ns)
    wall.seconds += 60
    assert stamps.advance(0.01) == wall.ns()
    wall.seconds += 0.01
    assert stamps.advance(0.02) == wall.ns()


def test_stamps_after_a_reset_are_of_the_wall_and_later(wall: Wall) -> None:
    stamps = Stamps(0.0, False, wall.now, wall.ns)
    wall.seconds += 1
    last = stamps.advance(5.0)  # five times as fast as the wall
    assert stamps.advance(0.0) == last + 1
    assert stamps.advance(0.5) == last + 1 + 500_000_000
    wall.seconds += 100
    stamps.advance(0.6)
    assert stamps.advance(0.0) >= wall.ns()
