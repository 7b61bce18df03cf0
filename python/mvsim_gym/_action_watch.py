"""A hint for actions in physical units where [-1, 1] is expected."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_STEPS = 50  # that are looked at
_FAR = 2.0  # what noise about [-1, 1] rarely reaches


class ActionWatch:
    """Looks at the first actions of an environment and warns once. Changes nothing."""

    def __init__(
        self, names: Sequence[str], low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]
    ) -> None:
        self._names, self._low, self._high = names, low, high
        self._left = _STEPS

    def looks(self, actions: npt.NDArray[np.float32], stacklevel: int = 3) -> bool:
        """Whether to go on: False after the warning and after the first steps.

        Args:
            actions: the last axis has the components.
            stacklevel: of the warning, which shows the line of the user's that it names.
        """
        self._left -= 1
        rows = actions.reshape(-1, len(self._names))
        far = (np.abs(rows) > _FAR) & np.isfinite(rows)
        if not far.any():
            return self._left > 0
        row, column = map(int, np.unravel_index(int(far.argmax()), far.shape))
        value, name = rows[row, column], self._names[column]
        warnings.warn(
            f"the action {name} is {value:g}, which counts as {np.sign(value):g}: actions are in [-1, 1], which "
            f"stands for {self._low[column]:g} to {self._high[column]:g} (action_low, action_high). From physical "
            "units: 2 * (value - action_low) / (action_high - action_low) - 1",
            UserWarning,
            stacklevel=stacklevel,
        )
        return False
