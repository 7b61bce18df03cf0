"""Converts geodetic positions to metres east, north and up of a reference."""

from __future__ import annotations

import math

_A = 6378137.0  # m, semi-major axis of WGS84
_F = 1 / 298.257223563  # flattening
_E2 = _F * (2 - _F)

Geodetic = tuple[float, float, float]
"""degrees north, degrees east, m above the ellipsoid"""


def _earth_fixed(place: Geodetic) -> tuple[float, float, float]:
    """Returns earth-centred, earth-fixed coordinates, m."""
    latitude, longitude = math.radians(place[0]), math.radians(place[1])
    n = _A / math.sqrt(1 - _E2 * math.sin(latitude) ** 2)
    across = (n + place[2]) * math.cos(latitude)
    return (
        across * math.cos(longitude),
        across * math.sin(longitude),
        (n * (1 - _E2) + place[2]) * math.sin(latitude),
    )


def enu_of(place: Geodetic, reference: Geodetic) -> tuple[float, float, float]:
    """Returns m east, north and up in the tangent plane at the reference."""
    x, y, z = (a - b for a, b in zip(_earth_fixed(place), _earth_fixed(reference), strict=True))
    latitude, longitude = math.radians(reference[0]), math.radians(reference[1])
    sin_lat, cos_lat, sin_lon, cos_lon = (
        math.sin(latitude),
        math.cos(latitude),
        math.sin(longitude),
        math.cos(longitude),
    )
    return (
        -sin_lon * x + cos_lon * y,
        -sin_lat * cos_lon * x - sin_lat * sin_lon * y + cos_lat * z,
        cos_lat * cos_lon * x + cos_lat * sin_lon * y + sin_lat * z,
    )
