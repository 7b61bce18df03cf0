"""Registers the package's environments with Gymnasium when Gymnasium is imported later."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:  # its import takes a quarter of a millisecond, and only types need it
    Loader = MetaPathFinder = object

_NAME = "gymnasium"
_REGISTRATION = "mvsim_gym.registration"  # registers as it is imported


def register_later() -> None:
    """Arranges that the environments are registered right after the import of Gymnasium."""
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds Gymnasium by the other finders and wraps its loader in one that registers afterwards."""

    _is_asking = False  # true while the other finders are asked, because importlib asks this one too

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of Gymnasium, as `MetaPathFinder` does; None for other modules."""
        if fullname != _NAME or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self)
        return spec


class _Loader(Loader):
    """Wraps a loader and registers after it has run. Modules see the wrapped loader as their own."""

    def __init__(self, loader: Loader, finder: _Finder) -> None:
        self._loader, self._finder = loader, finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Does the same as `Loader.create_module`."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Does the same as `Loader.exec_module`, and registers the environments."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        self._loader.exec_module(module)
        importlib.import_module(_REGISTRATION)
