"""Logs of real robots: reading, cutting, clocks, noise of sensors."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from mvsim_gym.identify import Log, LogError, Stream, allan_deviation, noise_of, read_log
from mvsim_gym.identify.log import align, cut


def stream(time: np.ndarray, *columns: np.ndarray, names: tuple[str, ...]) -> Stream:
    return Stream(time, np.column_stack(columns), names)


def turning(late: float, seed: int = 0) -> Log:
    """A gyro of 100 Hz and wheels of 7 Hz whose clock is late."""
    random = np.random.default_rng(seed)
    time = np.arange(0, 40, 0.01)
    knots = random.normal(0, 0.5, 41)
    rate = np.interp(time, np.arange(41), knots)
    slow = np.arange(0, 39, 0.15)
    wheels = 0.555 * np.interp(slow, time, rate)
    gyro = stream(time, rate + random.normal(0, 0.05, len(time)), names=("omega",))
    sides = stream(slow + late, -wheels / 2, wheels / 2, names=("left", "right"))
    return Log("log", {"gyro": gyro, "wheel_speed": sides})


@pytest.mark.parametrize("late", [-1.53, 0.42, 6.0])
def test_the_offset_of_a_clock_is_found_to_a_tenth_of_a_sample(late: float) -> None:
    log, (offset,) = align(turning(late))
    assert offset.seconds == pytest.approx(late, abs=0.015) and offset.applied
    assert log.streams["wheel_speed"].time[0] == pytest.approx(0, abs=0.015)


def test_a_small_offset_may_be_dynamics_and_is_left() -> None:
    log, (offset,) = align(turning(0.04))
    assert not offset.applied and "left as it is" in offset.line()
    assert log.streams["wheel_speed"].time[0] == pytest.approx(0.04)


def test_gaps_and_jumps_are_cut_out_and_told() -> None:
    time = np.concatenate([np.arange(0, 5, 0.02), np.arange(8, 20, 0.02)])
    x = np.where(time > 14, 3.0, 0.0) + 0.1 * time
    pose = stream(time, x, 0 * time, 0 * time, names=("x", "y", "yaw"))
    segments, lines = cut(Log("log", {"pose": pose}))
    assert [(round(s.start, 1), round(s.end, 1)) for s in segments] == [(0, 5), (8, 14), (14, 20)]
    assert any("no sample for 3.02 s" in line for line in lines)
    assert any("jumps by 3.00 m" in line for line in lines)


def test_csv_with_a_map_and_factors(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("t_ms,rate_deg,extra\n0,90,x\n20,180,y\n40,-90,z\n")
    log = read_log(str(path), {"time": "t_ms*0.001", "gyro.omega": "rate_deg*0.017453292519943"})
    assert log.streams["gyro"].time.tolist() == pytest.approx([0, 0.02, 0.04])
    assert log.streams["gyro"].values[:, 0] == pytest.approx([np.pi / 2, np.pi, -np.pi / 2])


def test_files_of_one_run_are_one_log(tmp_path: Path) -> None:
    (tmp_path / "imu.csv").write_text("time,wz,ax,ay\n0,0,1,2\n1,0,1,2\n")
    (tmp_path / "pro.csv").write_text("time,curL,curR,velL,velR\n0,1,2,3,4\n0.5,1,2,3,4\n")
    log = read_log(f"{tmp_path}/imu.csv+{tmp_path}/pro.csv")
    assert set(log.streams) == {"gyro", "acceleration", "wheel_speed", "effort"}
    assert log.span == (0, 0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file"),
        ("time,wz\n", "0 rows"),
        ("time,wz\n0,1\n1\n", ":3: found 1 cells"),
        ("time,wz\n0,1\n1,fast\n", ":3: found 'fast' in column 'wz'"),
        ("a,b\n0,1\n1,2\n", "one of times"),
        ("time,b\n0,1\n1,2\n", "no known column"),
    ],
)
def test_damaged_csv_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(LogError, match=message):
        read_log(str(path))


def test_unknown_quantities_and_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,wz\n0,1\n1,2\n")
    with pytest.raises(LogError, match=r"STREAM\.COLUMN"):
        read_log(str(tmp_path / "a.csv"), {"speed": "wz"})
    with pytest.raises(LogError, match="found no column 'none'"):
        read_log(str(tmp_path / "a.csv"), {"gyro.omega": "none"})
    with pytest.raises(LogError, match="expected"):
        read_log(str(tmp_path / "a.txt"))


def test_allan_deviation_of_white_noise_and_of_a_random_walk() -> None:
    random = np.random.default_rng(0)
    time, white = allan_deviation(random.normal(0, 0.02, 100_000), 0.01)
    at = np.argmin(np.abs(time - 1))
    assert white[0] == pytest.approx(0.02, rel=0.02)
    assert white[at] == pytest.approx(0.02 / np.sqrt(time[at] / 0.01), rel=0.1)
    time, walk = allan_deviation(np.cumsum(random.normal(0, 0.001, 100_000)), 0.01)
    at = np.argmin(np.abs(time - 10))
    assert walk[at] == pytest.approx(0.001 / np.sqrt(0.01) * np.sqrt(time[at] / 3), rel=0.2)


def test_noise_and_bias_come_from_rest() -> None:
    random = np.random.default_rng(0)
    time = np.arange(0, 60, 0.01)
    speed = np.where(time > 40, 0.5, 0.0)
    wheels = stream(time, speed, speed, names=("left", "right"))
    gyro = stream(time, 0.03 + random.normal(0, 0.004, len(time)) + (time > 40), names=("omega",))
    (found,) = noise_of(Log("log", {"wheel_speed": wheels, "gyro": gyro}))
    assert found.bias == pytest.approx(0.03, abs=2e-4) and found.white == pytest.approx(0.004, rel=0.03)
    assert found.density == pytest.approx(0.0004, rel=0.03) and found.seconds > 38


@pytest.mark.parametrize("name", ["absent.csv", "absent.mcap"])
def test_a_missing_log_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"log: there is no file '.*{name}'"):
        read_log(str(tmp_path / name))
