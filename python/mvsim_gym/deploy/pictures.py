"""Converts images of real cameras and points of real lidars to the form of an environment's sensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Intrinsics = tuple[float, float, float, float]
"""fx, fy, cx, cy, px"""

_COLORS = {"rgb8": (0, 1, 2), "bgr8": (2, 1, 0), "rgba8": (0, 1, 2), "bgra8": (2, 1, 0)}


def color_image(
    pixels: Array, encoding: str, shape: tuple[int, int], own: Intrinsics, given: Intrinsics | None
) -> Array:
    """Returns (height, width, 3) uint8, red, green, blue, from an image with one of ROS's encodings.

    Raises:
        ValueError: an unsupported encoding, or another size without intrinsics.
    """
    pixels = np.asarray(pixels)
    if encoding == "mono8" and pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    elif encoding not in _COLORS or pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        known = ", ".join(("mono8", *_COLORS))
        raise ValueError(
            f"image: found the encoding '{encoding}' and the shape {pixels.shape}, expected one of {known}"
        )
    else:
        pixels = pixels[:, :, _COLORS[encoding]]
    if pixels.dtype != np.uint8:
        raise ValueError(f"image: found {pixels.dtype}, expected uint8")
    return _rectified(pixels, shape, own, given)


def depth_image(
    pixels: Array,
    encoding: str,
    shape: tuple[int, int],
    own: Intrinsics,
    given: Intrinsics | None,
    far: float,
) -> Array:
    """Returns (height, width) float32, m along the optical axis. 0 stands for nothing seen up to `far`, for NaN and for
    inf.

    Raises:
        ValueError: an encoding other than 32FC1 (m) and 16UC1 (mm), or another size without intrinsics.
    """
    pixels = np.asarray(pixels)
    kinds = {"32FC1": (np.float32, 1.0), "16UC1": (np.uint16, 0.001)}
    if encoding not in kinds or pixels.ndim != 2 or pixels.dtype != kinds[encoding][0]:
        raise ValueError(
            f"depth: found the encoding '{encoding}', {pixels.dtype} and the shape {pixels.shape}, expected 32FC1"
            " (float32, m) or 16UC1 (uint16, mm) of two dimensions"
        )
    scale = kinds[encoding][1]
    meters = pixels if scale == 1 else (pixels * scale).astype(np.float32)
    seen = np.isfinite(meters) & (meters > 0) & (meters <= far)
    return _rectified(np.where(seen, meters, np.float32(0)), shape, own, given)


def range_image(points: Array, elevations: Array, azimuths: Array, low: float, high: float) -> Array:
    """Returns (rings, columns) float32, m, from points (n, 3) in the sensor's frame. A cell has the nearest point
    within half a spacing of its ring and column, or 0 without a point.

    Raises:
        ValueError: points of another shape.
    """
    points = np.asarray(points, np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points: found the shape {points.shape}, expected (n, 3)")
    points = points[np.isfinite(points).all(axis=1)]
    ranges = np.linalg.norm(points, axis=1)
    points, ranges = points[ranges >= max(low, 1e-6)], ranges[ranges >= max(low, 1e-6)]
    points, ranges = points[ranges <= high], ranges[ranges <= high]
    rings, ring_fits = _nearest(np.arcsin(points[:, 2] / ranges), elevations)
    columns, column_fits = _nearest(np.arctan2(points[:, 1], points[:, 0]), azimuths)
    fits = ring_fits & column_fits
    image = np.full((len(elevations), len(azimuths)), np.inf)
    np.minimum.at(image, (rings[fits], columns[fits]), ranges[fits])
    return np.where(np.isfinite(image), image, 0).astype(np.float32)


def _nearest(angles: Array, directions: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Returns the direction nearest to each angle, rad, and whether it is within half a spacing."""
    around = np.unwrap(np.asarray(directions, np.float64))
    order = np.argsort(around)
    ordered = around[order]
    half = 0.5 * np.max(np.diff(ordered)) if len(ordered) > 1 else np.pi
    turned = ordered[0] - half + np.mod(angles - ordered[0] + half, 2 * np.pi)
    right = np.clip(np.searchsorted(ordered, turned), 1, max(len(ordered) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(ordered) - 1)
    nearer = np.where(np.abs(turned - ordered[left]) <= np.abs(ordered[right] - turned), left, right)
    return order[nearer], np.abs(turned - ordered[nearer]) <= half * (1 + 1e-9)


def _rectified(pixels: Array, shape: tuple[int, int], own: Intrinsics, given: Intrinsics | None) -> Array:
    """Returns for each pixel of the environment's camera the real camera's pixel on the same ray; 0 outside of the real
    image."""
    if given is None or (np.allclose(given, own, rtol=1e-6) and pixels.shape[:2] == shape):
        if pixels.shape[:2] != shape:
            raise ValueError(
                f"found an image of {pixels.shape[1]} x {pixels.shape[0]} pixels, expected {shape[1]} x {shape[0]}, or"
                " intrinsics=(fx, fy, cx, cy) of the real camera to rectify it by"
            )
        return np.ascontiguousarray(pixels)
    rows, columns = (np.arange(size) for size in shape)
    x = np.rint((columns - own[2]) / own[0] * given[0] + given[2]).astype(int)
    y = np.rint((rows - own[3]) / own[1] * given[1] + given[3]).astype(int)
    inside_x, inside_y = (x >= 0) & (x < pixels.shape[1]), (y >= 0) & (y < pixels.shape[0])
    out = pixels[np.clip(y, 0, pixels.shape[0] - 1)][:, np.clip(x, 0, pixels.shape[1] - 1)].copy()
    out[~inside_y] = 0
    out[:, ~inside_x] = 0
    return out
