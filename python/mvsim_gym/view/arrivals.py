"""Messages of pages, which are checked and clamped here before the library or a callback of the panel sees them.

Each kind of message that a view needs is defined here. All others are dropped: share URLs, uploads, answers without a
question, changes of the scene.
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

MAX_MESSAGE = 2**14  # bytes; the page's own messages have fewer than 500
MAX_TEXT = 200  # characters of a text that a user types
_FAR = 1e9  # largest coordinate, m; also the largest of the other numbers of a camera
_PIXELS = 2**15

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]
_Uuid = Annotated[str, msgspec.Meta(max_length=64)]


class Camera(msgspec.Struct, tag_field="type", tag="ViewerCameraMessage"):
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
        """Returns the camera with all numbers within bounds; None if the camera is invalid."""
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
    value: bool | int | float | str  # a page may not change other properties of an element


class GuiUpdate(msgspec.Struct, tag_field="type", tag="GuiUpdateMessage"):
    uuid: _Uuid
    updates: _Value


class Hold(msgspec.Struct, tag_field="type", tag="GuiButtonHoldMessage"):
    uuid: _Uuid
    frequency: float


class Command(msgspec.Struct, tag_field="type", tag="CommandTriggerMessage"):
    uuid: _Uuid


class Pointer(msgspec.Struct, tag_field="type", tag="ScenePointerMessage"):
    event_type: Literal["click"]
    ray_origin: Three
    ray_direction: Three
    screen_pos: Annotated[tuple[tuple[float, float], ...], msgspec.Meta(max_length=1)]
    modifier: Literal["cmd/ctrl", "alt", "shift", "cmd/ctrl+alt", "cmd/ctrl+shift", "alt+shift"] | None = None

    def cleaned(self) -> Pointer | None:
        """Returns the click; None if a number is invalid or the ray has no direction."""
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
    """Returns a message of one of the kinds above with valid numbers; None for all others."""
    if not isinstance(data, bytes):
        return None
    try:
        message = _DECODER.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError, OverflowError):
        return None
    return message.cleaned() if isinstance(message, Camera | Pointer) else message


def checked(handle: Any, value: bool | int | float | str) -> bool | int | float | str | None:
    """Returns a value that an element of the panel accepts; None if it accepts no value of that kind."""
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
    """Returns a number within the range of a slider or a field; for a slider, on one of its steps."""
    if isinstance(value, bool) or not -1e300 < value < 1e300:
        return None
    low = -_FAR if handle.min is None else handle.min
    high = _FAR if handle.max is None else handle.max
    if isinstance(handle, viser.GuiSliderHandle):
        clipped = min(max(value, low), high)
        value = round(low + round((clipped - low) / handle.step) * handle.step, 9)
    kind = type(handle.value)
    return kind(min(max(value, low), high))
