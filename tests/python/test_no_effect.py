"""What an environment asks for and cannot have is a warning that says why."""

from __future__ import annotations

import mvsim_gym

ARENA = "mvsim/NavArena-v0"


def warnings_of(**keywords: object) -> list[str]:
    return mvsim_gym.VectorEnv(ARENA, num_envs=1, **keywords).warnings  # type: ignore[arg-type]


def test_a_scan_with_a_max_beyond_the_range_warns() -> None:
    assert warnings_of() == []
    found = warnings_of(observe={"scan": {"max": 5}})
    assert len(found) == 1
    assert "max: 5 m is beyond the sensor's range of 3.5 m" in found[0]
