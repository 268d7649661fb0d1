"""MODULE:FN on the command line: a function of the caller's, found, run, and the model that it builds."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unnest.errors import UsageError

if TYPE_CHECKING:
    from unnest.core.weight_transfer.target_model import TargetModel


#: Package that the caller's code imports -> what installs it.
INSTALL = {
    "keras": "pip install tensorflow keras", "tensorflow": "pip install tensorflow",
    "tf_keras": "pip install tensorflow tf_keras",
}  # fmt: skip


def function_of(target: str) -> Callable[[], Any]:
    """Return the function that MODULE:FN names; the module is looked for in the current folder too.

    Raises:
        UsageError: there is no such module or function, or the module raises.

    """
    module_name, name = _module_and_name(target)
    sys.path.insert(0, os.getcwd())
    try:
        function = getattr(importlib.import_module(module_name), name, None)
    except ModuleNotFoundError as missing:
        if missing.name in ("keras", "tensorflow", "tf_keras"):
            raise UsageError(
                "usage", f"{target}: {missing.name} is not installed: {INSTALL[missing.name]}"
            ) from None
        raise UsageError(
            "usage", f"{target}: {missing}; run it where {module_name} can be imported"
        ) from None
    except (Exception, SystemExit) as raised:  # noqa: BLE001 - so is the module
        raise UsageError("usage", f"{module_name} raised {one_line(raised)}") from None
    if not callable(function):
        raise UsageError("usage", f"{target}: {module_name} has no function {name}")
    builder: Callable[[], Any] = function
    return builder


def _module_and_name(target: str) -> tuple[str, str]:
    """Split MODULE:FN.

    Raises:
        UsageError: it is of another form.

    """
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise UsageError("usage", f"{target}: give MODULE:FN, as in train:build_model")
    if module_name.endswith(".py"):
        module = module_name.removesuffix(".py").replace(os.sep, ".")
        raise UsageError("usage", f"{target}: give the module, not its file: {module}:{name}")
    return module_name, name


def builder_of(target: str, build: Callable[[], Any]) -> Callable[[], Any]:
    """Return the caller's function; a UsageError of it says what it raised, or that it returned no model."""
    from unnest.keras.keras_api import is_model

    def build_model() -> object:
        try:
            model = build()
        except (Exception, SystemExit) as raised:  # noqa: BLE001 - the function is anyone's code
            raise UsageError("usage", f"{target} raised {one_line(raised)}") from None
        if not is_model(model):
            raise UsageError(
                "usage",
                f"{target} returned {type(model).__name__}: it must return a built Keras model",
            )
        return model

    return build_model


def target_model_of(like: object) -> TargetModel | None:
    """Return the model that `like` is, builds, or names as MODULE:FN; None for None.

    What the caller's code prints goes to stderr: stdout is the report's.

    Raises:
        UsageError: Keras 3 is not installed, or there is no such function, or what it builds takes no weights.

    """
    from unnest.core.weight_transfer.target_model import TargetModel

    if like is None or isinstance(like, TargetModel):
        return like
    if isinstance(like, str):
        _module_and_name(like)  # before Keras is imported, which takes seconds
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    with contextlib.redirect_stdout(sys.stderr):
        try:
            from unnest.keras.describe_built_model import target_model
        except ImportError as missing:
            raise UsageError("usage", f"--like: {missing}") from None
        called, model = "like", like
        if isinstance(like, str):
            called, model = like, builder_of(like, function_of(like))()
        elif not hasattr(like, "weights") and callable(like):
            model = builder_of("like", like)()
        try:
            return target_model(model)
        except (TypeError, ValueError) as mistake:
            raise UsageError("usage", f"{called}: {mistake}") from None


def one_line(error: BaseException) -> str:
    """Return an error of the caller's code as one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
