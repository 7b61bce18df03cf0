"""Services of a world, which return or set poses, drive vehicles, and end the world."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from typing import Any, NamedTuple

from mvsim_gym._notices import notice
from mvsim_gym.comms import messages
from mvsim_gym.comms.errors import CommsError
from mvsim_gym.comms.poses import composed, pose_message, pose_of, twist_message
from mvsim_gym.parts import Block, Pose, Twist, Vehicle
from mvsim_gym.world import World

_FASTEST = 1e4  # m/s and rad/s that may be commanded; far beyond it the world diverges and ends
_PATIENCE = 5.0  # s that a call waits for the world's thread
Body = Vehicle | Block


class _BodyState(NamedTuple):
    pose: Pose
    twist: Twist


class WorldServices:
    """Answers calls in the threads in which they come. `work` does what touches the world, in the world's thread."""

    def __init__(self, world: World) -> None:
        self._bodies: dict[str, Body] = {**world.blocks, **world.vehicles}
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._vehicles = list(world.vehicles.values())
        self._touched: dict[str, bool] = dict.fromkeys(world.vehicles, False)
        self._states: dict[str, _BodyState] = {}  # bodies that a call has named
        self.is_ended = False
        """Whether the service `shutdown` was called."""
        self.table = {
            "set_pose": (messages.SrvSetPose, messages.SrvSetPoseAnswer, self._set_pose),
            "get_pose": (messages.SrvGetPose, messages.SrvGetPoseAnswer, self._get_pose),
            "set_controller_twist": (
                messages.SrvSetControllerTwist,
                messages.SrvSetControllerTwistAnswer,
                self._set_controller_twist,
            ),
            "shutdown": (messages.SrvShutdown, messages.SrvShutdownAnswer, self._shutdown),
        }
        """By name: type of the request, type of the answer, function."""

    def work(self) -> None:
        """Records the contacts of the last step, and carries out the calls that have come since the last one."""
        for vehicle in self._vehicles:
            if vehicle.in_collision:
                self._touched[vehicle.name] = True
        self._update_states()
        while self._waiting:
            task, future = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(task())
                except Exception as error:
                    future.set_exception(error)
            self._update_states()

    def _update_states(self) -> None:
        for name in list(self._states):
            self._update_state(name)

    def _update_state(self, name: str) -> _BodyState:
        body = self._bodies[name]
        seen = self._states[name] = _BodyState(body.pose, body.twist)
        return seen

    def _in_world(self, task: Callable[[], Any]) -> Any:
        """Runs a task in the world's thread, between two steps, and returns its result."""
        future: Future[Any] = Future()
        call = (task, future)
        self._waiting.append(call)  # few: the one thread that appends waits for the result
        try:
            return future.result(_PATIENCE)
        except Late:
            future.cancel()
            with suppress(ValueError):
                self._waiting.remove(call)
            raise CommsError(f"the world is not stepped: it took no call within {_PATIENCE:g} s") from None

    def _take_touched(self, name: str) -> bool:
        """Whether a body has touched something since the last call about it."""
        touched = self._touched.get(name, False)
        if touched:
            self._touched[name] = False
        return touched

    def _get_pose(self, request: Any) -> Any:
        name = request.objectId
        if name not in self._bodies:
            return messages.SrvGetPoseAnswer(
                success=False, objectIsInCollision=False, errorMessage=_unknown_body(name)
            )
        seen = self._states.get(name) or self._in_world(lambda: self._update_state(name))
        return messages.SrvGetPoseAnswer(
            success=True,
            pose=pose_message(seen.pose),
            objectIsInCollision=self._take_touched(name),
            twist=twist_message(seen.twist),
        )

    def _set_pose(self, request: Any) -> Any:
        name = request.objectId
        body = self._bodies.get(name)
        answer = messages.SrvSetPoseAnswer(success=False, objectIsInCollision=False)
        if body is None:
            answer.errorMessage = _unknown_body(name)
            return answer
        try:
            pose = self._in_world(lambda: _move_body(body, pose_of(request.pose), request.relativeIncrement))
        except ValueError as error:
            answer.errorMessage = str(error)
            return answer
        answer.success = True
        answer.objectIsInCollision = self._take_touched(name)
        if request.relativeIncrement:
            answer.objectGlobalPose.CopyFrom(pose_message(pose))
        return answer

    def _set_controller_twist(self, request: Any) -> Any:
        name, wanted = request.objectId, request.twistSetPoint
        body = self._bodies.get(name)
        answer = messages.SrvSetControllerTwistAnswer
        if body is None:
            return answer(success=False, errorMessage=_unknown_body(name))
        if not isinstance(body, Vehicle):
            return answer(success=False, errorMessage=f"'{name}' is not a vehicle")
        if not body.takes_twist:
            return answer(
                success=False, errorMessage=f"the controller '{body.controller}' of '{name}' takes no twists"
            )
        if not (math.isfinite(wanted.vx) and math.isfinite(wanted.wz)):
            return answer(success=False, errorMessage=f"found vx {wanted.vx} and wz {wanted.wz}: not finite")
        vehicle, vx, omega = body, _clipped(name, wanted.vx), _clipped(name, wanted.wz)
        try:
            self._in_world(lambda: vehicle.set_twist(vx, omega))
        except ValueError as error:
            return answer(success=False, errorMessage=str(error))
        return answer(success=True)

    def _shutdown(self, _: Any) -> Any:
        self.is_ended = True
        return messages.SrvShutdownAnswer(accepted=True)


def _move_body(body: Body, pose: Pose, is_increment: bool) -> Pose:
    """Moves a body and keeps its velocity in its own frame. z, pitch and roll are those of the ground there."""
    if is_increment:
        pose = composed(body.pose, pose)
    twist = body.twist
    body.set_pose(pose.x, pose.y, pose.yaw)
    if any(twist):
        body.set_twist_state(*twist)
    return body.pose


def _clipped(name: str, value: float) -> float:
    if abs(value) <= _FASTEST:
        return value
    notice([f"set_controller_twist: a speed of '{name}' beyond {_FASTEST:g} is clipped to that"])
    return math.copysign(_FASTEST, value)


def _unknown_body(name: str) -> str:
    return f"there is no vehicle or block '{name[:100]}'"
