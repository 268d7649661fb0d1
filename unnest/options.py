"""Options of inspect and fix, and the checks for contradictions among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict, get_args

from unnest.core.model import JsonObject
from unnest.errors import Unreadable, UsageError
from unnest.formats.container_interface import Target
from unnest.outputs import container_suffixes, output_file_names

if TYPE_CHECKING:
    from unnest.core.weight_transfer.target_model import TargetModel
    from unnest.files.overwrite_checks import Inputs

#: The dialect to write: the file's own, or Keras 3's.
Dialect: TypeAlias = Literal["original", "3"]

#: Called with the bytes moved so far, and in all: what is written counts once, and once more when it is read back.
Meter: TypeAlias = Callable[[int, int], None]

#: What is done with the bytes that move.
Phase: TypeAlias = Literal["copying", "converting", "reading back"]

#: A meter that receives the phase too.
PhaseMeter: TypeAlias = Callable[[int, int, Phase], None]

Architecture: TypeAlias = "str | os.PathLike[str] | JsonObject | None"


class ReportParts(NamedTuple):
    """Parts of a report beside the facts of the JSON document."""

    #: The picture, small enough for a terminal or a row.
    drawing: bool = False
    #: The answer of --keras 3, and the architecture that lies beside weights alone.
    advice: bool = False
    #: The whole graph with each layer's settings and weights, for a page of one model.
    view: bool = False
    #: In it the distributions of the weights' values, which are read for that.
    values: bool = True


#: Parts for --json, for a row of a page, for the text, for a page of one model.
FACTS = ReportParts()
ROW = ReportParts(drawing=True)
TEXT = ReportParts(drawing=True, advice=True)
PAGE = ReportParts(drawing=True, advice=True, view=True)


class FixOptions(NamedTuple):
    """The options of fix, as given."""

    output: str | None = None
    in_place: bool = False
    backup: str = output_file_names.BACKUP
    force: bool = False
    dry_run: bool = False
    to: Target | None = None
    architecture: JsonObject | None = None
    keep_nested: bool = False
    slice_layers: frozenset[str] = frozenset()
    #: What else is read in this run: never written, whatever is forced.
    inputs: tuple[Inputs, ...] = ()
    #: Those of them that are URLs; of a folder of models it ends with a slash.
    input_urls: tuple[str, ...] = ()
    trust: bool = False
    verify: bool = False
    #: None: the file's own, but Keras 3's where another container than `.keras` becomes `.keras`.
    keras: Dialect | None = None
    #: Of several inputs: this one's path in the folder for all; its suffix becomes that of the container written.
    into: str | None = None
    #: The model that takes the weights; its `.weights.h5` is written.
    like: TargetModel | None = None
    #: The module to write for what the output still needs.
    stub: str | None = None
    #: Parts of the report; `advice` is always given.
    parts: ReportParts = FACTS

    @property
    def to_repeat(self) -> tuple[str, ...]:
        """The options that another command on the same file needs as well, but for paths."""
        given = [f"--slice-layer={name}" for name in sorted(self.slice_layers)]
        flags = {"--keep-nested": self.keep_nested, "--trust": self.trust}
        return (*given, *(flag for flag, is_given in flags.items() if is_given))

    def path_at_output(self, path: str) -> str:
        """Return a path in the folder that the output goes to."""
        return self.output or self.into or path


class FixArguments(TypedDict, total=False):
    """The keyword arguments of `fix` and `fix_many`; `FixOptions` has their defaults."""

    in_place: bool
    backup: str
    force: bool
    dry_run: bool
    to: Target | None
    architecture: Architecture
    keep_nested: bool
    slice_layers: Iterable[str]
    trust: bool
    verify: bool
    keras: Dialect | Literal[3] | None
    like: object
    stub: str | os.PathLike[str] | None
    meter: Meter | None


def signature_of_fix(function: Callable[..., object]) -> Signature:
    """Return the signature of a function with `**arguments: Unpack[FixArguments]`, these by name, for `help`."""
    own = signature(function)
    *first, _ = own.parameters.values()
    defaults = {**FixOptions._field_defaults, "slice_layers": (), "meter": None}
    named = [
        Parameter(
            name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kind.__forward_arg__
        )
        for name, kind in FixArguments.__annotations__.items()
    ]
    return own.replace(parameters=[*first, *named])


def check_name(output: str | None) -> None:
    """Check that the output can be the name of a file that unnest writes.

    Raises:
        UsageError: it cannot.

    """
    if output == "":
        raise UsageError("usage", "-o '': is no name; name the file or the folder to write")
    if output == "-":
        raise UsageError(
            "usage",
            "-o -: an output is read back before it gets its name, so it cannot go to stdout; name a file",
        )
    foreign = container_suffixes.foreign_suffix(output or "")
    if foreign is not None and not os.path.isdir(output or ""):
        raise UsageError(
            "usage",
            f"{output}: {foreign} cannot be written; name it {container_suffixes.CAN_BE_WRITTEN}",
        )


def check_usage(path: str, options: FixOptions) -> None:
    """Check that options are valid and do not contradict each other, whatever the file holds.

    Raises:
        UsageError: one does.

    """
    check_name(options.output)
    _check_choice("to", options.to, (None, *get_args(Target)))
    if options.keras is not None:
        _check_choice("keras", options.keras, get_args(Dialect))
    if options.like is not None:
        _check_like(options)
    if options.stub is not None:
        _check_stub(options)
    if not output_file_names.can_end_a_name(options.backup):
        raise UsageError(
            "usage",
            f"--backup {options.backup!r}: a suffix is something like .bak, without a slash",
        )
    if options.in_place:
        _check_in_place(path, options)
    _check_place(path, options)


def _check_in_place(path: str, options: FixOptions) -> None:
    """Raise UsageError if `--in-place` cannot be, for this input or with the other options."""
    if options.output is not None:
        raise UsageError("usage", "--in-place and -o contradict each other; drop one of the two")
    if os.path.isdir(path):
        raise UsageError(
            "usage", f"{path}: --in-place is for single files, and this is a folder; use -o"
        )
    if not os.path.exists(path) and os.path.isfile(path + ".index"):
        raise UsageError(
            "usage", f"{path}: --in-place is for single files, and this is a checkpoint; use -o"
        )
    if options.to is not None and not container_suffixes.suffix_allows(path, options.to):
        raise UsageError(
            "usage",
            f"{path}: --in-place keeps the container, and --to {options.to} names another; use -o",
        )


def _check_place(path: str, options: FixOptions) -> None:
    """Raise UsageError if the output's name contradicts `--to`, or is the input's."""
    output, to = options.output, options.to
    if output is not None and to is not None and not container_suffixes.suffix_allows(output, to):
        raise UsageError(
            "usage", f"{output}: the suffix contradicts --to {to}; drop one of the two"
        )
    place = output or (options.into if to is None and options.keras != "3" else None)
    if place is not None and _same_place(path, place):
        instead = (
            "use --in-place to replace it"
            if os.path.isfile(path)
            else "choose another output with -o"
        )
        raise UsageError("usage", f"{place}: is the input itself; {instead}")


def _check_like(options: FixOptions) -> None:
    """Raise UsageError for options that --like contradicts: it writes the `.weights.h5` of the caller's model."""
    if options.in_place:
        raise UsageError(
            "usage",
            "--like writes another model's weights, and --in-place replaces the input; use -o",
        )
    if options.to not in (None, "weights"):
        raise UsageError(
            "usage", f"--like writes .weights.h5, not --to {options.to}; drop one of the two"
        )
    if options.output is not None and not options.output.lower().endswith(".weights.h5"):
        raise UsageError(
            "usage", f"{options.output}: --like writes weights; the name must end in .weights.h5"
        )


def _check_stub(options: FixOptions) -> None:
    """Raise UsageError where --stub has no model of Keras 3 to be for, or no place."""
    stub = str(options.stub)
    if options.keras != "3" or options.like is not None:
        raise UsageError(
            "usage", f"--stub {stub}: is for a model of Keras 3; add --keras 3, without --like"
        )
    if not stub.lower().endswith(".py"):
        raise UsageError("usage", f"--stub {stub}: the name must end in .py")
    if not os.path.isdir(os.path.dirname(stub) or "."):
        raise UsageError("usage", f"--stub {stub}: there is no folder {os.path.dirname(stub)}")


def _check_choice(option: str, value: object, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        raise UsageError(
            "usage", f"{option}={value!r}: choose one of {', '.join(map(repr, choices))}"
        )


def architecture_argument(architecture: Architecture) -> JsonObject | None:
    """Read the JSON that --architecture names.

    Raises:
        UsageError: it cannot be read, so the caller named the wrong file.

    """
    if architecture is None or isinstance(architecture, Mapping):
        return architecture
    from unnest.formats.architecture_json import read_architecture
    from unnest.formats.detect_container import container_of

    path = os.fspath(architecture)
    if path.lstrip().startswith("{"):
        raise UsageError(
            "usage", "architecture: is JSON text; pass its path, or the object: json.loads(text)"
        )
    try:
        found = container_of(path)
        if found not in (None, "json"):
            how = "pass the JSON of model.to_json(), or what unnest fix --to json writes of a whole model"
            raise UsageError(
                "usage", f"--architecture: {path}: is {CALLED[found]}, not an architecture; {how}"
            )
        return read_architecture(path)
    except Unreadable as e:
        raise UsageError("usage", f"--architecture: {e.message}") from e


#: How a message calls a container.
CALLED = {
    "h5": "HDF5", "keras": "a .keras file", "weights_h5": "weights", "saved_model": "a SavedModel",
    "checkpoint": "a checkpoint", "tfjs": "a TensorFlow.js model",
}  # fmt: skip


def architecture_inputs(architecture: Architecture) -> tuple[Inputs, ...]:
    """Return the file that --architecture names, if it is one, as an input."""
    from unnest.files.overwrite_checks import Inputs

    return (
        (Inputs.of([os.fspath(architecture)]),)
        if isinstance(architecture, (str, os.PathLike))
        else ()
    )


def _same_place(a: str, b: str) -> bool:
    """Return True if writing `b` would write `a`: the same file by any of its names."""
    try:
        return os.path.samefile(a, b)
    except OSError:
        return os.path.realpath(a) == os.path.realpath(b)
