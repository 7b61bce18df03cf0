"""What pages send, checked and clamped where it arrives: nothing else reaches the library and the panel's callbacks.

Each kind of message that a view needs has its fields here; all others (share URLs, uploads, answers to questions that
were not asked, changes of the scene) are dropped.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mvsim_gym._notices import extra, printable

with extra("the view", "view"):
    import msgspec
    import viser

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_MESSAGE", "MAX_TEXT", "Camera", "Press", "checked", "decoded", "encoded_message"]

MAX_MESSAGE = 2**14  # bytes; the page's own are below 500
MAX_TEXT = 200  # characters that somebody types
_FAR = 1e9  # m, and whatever else a camera tells
_PIXELS = 2**15

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]
_Uuid = Annotated[str, msgspec.Meta(max_length=64)]


class Camera(msgspec.Struct, tag_field="type", tag="ViewerCameraMessage"):
    """Where a page looks from."""

    wxyz: Four
    position: Three
    fov: float
    near: float
    far: float
    image_height: float
    image_width: float
    look_at: Three
    up_direction: Three

    def cleaned(self) -> Camera | None:
        """Within bounds; None where it is none."""
        numbers = (*self.wxyz, *self.position, *self.look_at, *self.up_direction)
        more = (self.fov, self.near, self.far, self.image_height, self.image_width)
        if not all(map(math.isfinite, (*numbers, *more))) or max(map(abs, numbers)) > _FAR:
            return None
        if math.hypot(*self.wxyz) < 1e-6 or math.hypot(*self.up_direction) < 1e-6:
            return None
        self.fov = min(max(self.fov, 0.01), math.pi)
        self.near, self.far = min(max(self.near, 1e-6), _FAR), min(max(self.far, 1e-6), _FAR)
        self.image_height = round(min(max(self.image_height, 1), _PIXELS))
        self.image_width = round(min(max(self.image_width, 1), _PIXELS))
        return self


class _Value(msgspec.Struct):
    value: bool | int | float | str  # other properties of an element are the server's


class GuiUpdate(msgspec.Struct, tag_field="type", tag="GuiUpdateMessage"):
    """Another value of an element of the panel."""

    uuid: _Uuid
    updates: _Value


class Hold(msgspec.Struct, tag_field="type", tag="GuiButtonHoldMessage"):
    """A button that is held."""

    uuid: _Uuid
    frequency: float


class Command(msgspec.Struct, tag_field="type", tag="CommandTriggerMessage"):
    """A key, or an entry of the palette."""

    uuid: _Uuid


class Pointer(msgspec.Struct, tag_field="type", tag="ScenePointerMessage"):
    """A click into the scene."""

    event_type: Literal["click"]
    ray_origin: Three
    ray_direction: Three
    screen_pos: Annotated[tuple[tuple[float, float], ...], msgspec.Meta(max_length=1)]
    modifier: Literal["cmd/ctrl", "alt", "shift", "cmd/ctrl+alt", "cmd/ctrl+shift", "alt+shift"] | None = None

    def cleaned(self) -> Pointer | None:
        """Itself; None where its numbers are none, or its ray has no direction."""
        numbers = (*self.ray_origin, *self.ray_direction, *(x for place in self.screen_pos for x in place))
        if not all(map(math.isfinite, numbers)) or max(map(abs, numbers)) > _FAR:
            return None
        return self if math.hypot(*self.ray_direction) > 1e-6 else None


Press = GuiUpdate | Hold | Command | Pointer
_DECODER: msgspec.msgpack.Decoder[Camera | Press] = msgspec.msgpack.Decoder(
    Camera | GuiUpdate | Hold | Command | Pointer
)
encoded_message: Callable[[Any], bytes] = msgspec.msgpack.Encoder().encode


def decoded(data: bytes | str) -> Camera | Press | None:
    """A message of the kinds above with numbers that are some; None for all else."""
    if not isinstance(data, bytes):
        return None
    try:
        message = _DECODER.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError, OverflowError):
        return None
    return message.cleaned() if isinstance(message, Camera | Pointer) else message


def checked(handle: Any, value: bool | int | float | str) -> bool | int | float | str | None:
    """A value as an element of the panel takes it; None where it takes none of that kind."""
    if handle.disabled or not handle.visible:
        return None
    if isinstance(handle, viser.GuiButtonHandle):
        return True if value is True else None
    if isinstance(handle, viser.GuiCheckboxHandle):
        return value if isinstance(value, bool) else None
    if isinstance(handle, viser.GuiSliderHandle | viser.GuiNumberHandle):
        return _within(handle, value) if isinstance(value, int | float) else None
    if isinstance(handle, viser.GuiDropdownHandle):
        return value if isinstance(value, str) and value in handle.options else None
    if isinstance(handle, viser.GuiTextHandle):
        return printable(value[:MAX_TEXT], one_line=True)[:MAX_TEXT] if isinstance(value, str) else None
    return None


def _within(handle: Any, value: float) -> int | float | None:
    """A number between the ends of a slider or a field, a slider's on a step."""
    if isinstance(value, bool) or not -1e300 < value < 1e300:
        return None
    low = -_FAR if handle.min is None else handle.min
    high = _FAR if handle.max is None else handle.max
    if isinstance(handle, viser.GuiSliderHandle):
        clipped = min(max(value, low), high)
        value = round(low + round((clipped - low) / handle.step) * handle.step, 9)
    kind = type(handle.value)
    return kind(min(max(value, low), high))
