"""The ray kernel alone, on one core: the C++ program scan_kernel measures, this reads what it prints."""

from __future__ import annotations

from statistics import median

from figure import Row, Settings, figure
from figures.programs import printed

WORK = "2,000 random poses x 360 rays in an 800x800 grid at 5 cm, at most 10 m, one core"


def _row(name: str, settings: Settings, option: str, work: str, also: tuple[str, ...] = ()) -> Row:
    rows = printed("scan_kernel", option, settings.runs)
    if name not in rows:
        raise RuntimeError(f"{name}: this machine has no such instruction set")
    unit, runs = rows[name]
    others = {key: f"{median(rows[key][1]):g} {rows[key][0]}" for key in also if key in rows}
    return Row(name, unit, {"work": work, **({"also": others} if others else {})}, runs)


@figure("scan_ns_per_ray")
def scan_ns_per_ray(settings: Settings) -> Row:
    """With the widest instruction set of the machine."""
    others = ("scan_ns_avx3", "scan_ns_sse4", "scan_ns_ssse3", "scan_mean_range")
    others += ("scan_us_polygons_20", "scan_us_polygons_200", "scan_us_polygons_50000")
    return _row("scan_ns_per_ray", settings, "", WORK, others)


@figure("scan_ns_avx2")
def scan_ns_avx2(settings: Settings) -> Row:
    return _row("scan_ns_avx2", settings, "", WORK)


@figure("scan_ns_scalar")
def scan_ns_scalar(settings: Settings) -> Row:
    return _row("scan_ns_scalar", settings, "", WORK)


@figure("noise_ns_per_ray")
def noise_ns_per_ray(settings: Settings) -> Row:
    work = "two normal deviates a ray, its direction turned, its range disturbed, one core"
    return _row("noise_ns_per_ray", settings, "", work)


@figure("scan_growth")
def scan_growth(settings: Settings) -> Row:
    """How much a ray's cost grows with the map, all else the same."""
    work = "64 robots that drive about in a 400x400 grid, and the same in 100 copies of it (4,000x4,000), 360 rays"
    also = ("scan_ns_walk64_400", "scan_ns_walk64_4000", "scan_growth_walk1", "scan_growth_anywhere")
    row = _row("scan_growth_walk64", settings, "--growth", work, also)
    row.name = "scan_growth"
    return row
