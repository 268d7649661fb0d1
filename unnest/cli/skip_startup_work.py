"""A short start of the program: libraries kept from work at import, values that the parser need not convert."""

from __future__ import annotations

import os
import platform
from typing import Any, get_args, get_origin


def keep_libraries_light() -> None:
    """Keep OpenBLAS from starting a thread a core, and h5py from running the program `uname` of the PATH.

    Each takes about a tenth of a short run. To be called before NumPy is loaded, where `balance`, which needs the
    threads, is not run. An OPENBLAS_NUM_THREADS of the user stays.
    h5py asks for the processor's name, for which Python runs `uname -p` where nothing is noted (source: CPython 3.10 to
    3.13, platform.py); the machine's name is the same but for a few old systems.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    vars(platform.uname()).setdefault("processor", platform.machine())


class TypedValue:
    """Conversion of one parameter: a value that has its type stays as it is, any other is converted by the parser.

    Since 0.29 typer converts each value by pydantic, the absent ones too; to load that takes 60 ms of each start.
    """

    def __init__(self, parameter: Any) -> None:  # noqa: ANN401 - of the parser, as are all below
        annotation = parameter.type_descriptor.annotation
        self._entry_type = get_args(annotation)[0] if get_origin(annotation) is list else annotation
        self._parser_conversion = parameter.get_runtime_param

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - the parser calls it so
        """Return a parameter's value in its type, an absent one as the parser has it."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if all(isinstance(entry, self._entry_type) for entry in (value if several else (value,))):
            return value
        return self._parser_conversion().coerce(value, param=param, ctx=ctx)


class TypedValues:
    """Commands with such parameters; a base beside the parser's own class of commands."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - of the parser
        """Return the parameters of the command, its help option among them."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of the parser's class
        for parameter in parameters:
            typed = "get_runtime_param" in vars(parameter)  # by an earlier call
            if not typed and hasattr(parameter, "get_runtime_param"):  # from typer 0.29 on
                value = TypedValue(parameter)
                parameter.get_runtime_param = lambda value=value: value
        return parameters
