"""The interface of a container: read a path, and write one.

A `Source` is one model on disk, opened once, so that what was checked is what is copied. Its `stored` is all that the
core sees, its `plan` an immutable value, and planning leaves no trace in it. A `Container` opens sources and carries
out the `output` of a plan: `write` makes a file (or fills a folder) under a name that
`unnest.files.write_output_atomically` will publish or remove, `verify` opens the result again and compares it with what
was meant to be written. Writers never ask which container a source is of: whatever they need, each source answers, or
has the default below. A new container is a module in this folder and a line in `open_container.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

from unnest.core.make_plan import plan
from unnest.core.model import JsonObject, Stored, Tensor
from unnest.core.plan import Choices, Output, Plan
from unnest.errors import Failed, Refused
from unnest.findings import Finding
from unnest.formats.parse_json import dump
from unnest.formats.preserved_style import H5Style, JsonStyle

if TYPE_CHECKING:
    from typing_extensions import Self

    from unnest.core.keras3.conversion_context import Conversion
    from unnest.core.weight_transfer.load_into_model import PlacedWeights
    from unnest.core.weight_transfer.state_for_compiled_optimizer import StateAlone
    from unnest.core.weight_transfer.target_model import TargetModel
    from unnest.formats.hdf5.guarded_file import GuardedFile

ContainerName: TypeAlias = Literal[
    "h5", "keras", "weights_h5", "saved_model", "checkpoint", "json", "tfjs"
]
Target: TypeAlias = Literal["h5", "keras", "weights", "saved_model", "json"]

#: Suffixes of Keras's model files: one in a folder is reported even if its content is not a model.
MODEL_SUFFIXES = (".h5", ".hdf5", ".keras")

#: Called with the number of bytes just written or compared.
OnBytes: TypeAlias = Callable[[int], None]

#: Bytes moved at a time where tensors pass through memory at all.
TRANSFER_BLOCK = 1 << 20


#: What files that unnest wrote bear where the rest does not tell that they hold a single-device model, and Keras
#: ignores: weights alone a root attribute of that name, and a `.keras` an entry in its metadata.
MARK, MARKED = "unnest", "weights of a single-device model"


class TargetFormat(NamedTuple):
    """A container, and what goes into it."""

    container: ContainerName
    output: Output
    #: The suffix of a default output; None where the source's own stays.
    suffix: str | None = None
    #: Whether it is another form of the source's own container: JSON out of YAML.
    reformed: bool = False
    #: What it cannot hold, and what became another on the way.
    findings: tuple[Finding, ...] = ()
    #: What rules changed on the way, with --keras 3.
    conversions: tuple[Conversion, ...] = ()
    #: What was checked of the model before anything is written, by name.
    checks: tuple[str, ...] = ()

    @property
    def model(self) -> Stored:
        """The model as it is written."""
        return self.output.model


class Source(ABC):
    """One model on disk, open for reading until it is closed: a context manager, which closes it.

    `path` is as the caller gave it, `stored` all that the core sees of the file. `findings` are what the container
    itself noticed: things in the file that no model accounts for.
    """

    container: ClassVar[ContainerName]

    #: Why the file itself cannot be replaced by what is written; None where it can.
    not_in_place: str | None = None

    #: Class of a stored model whose layers are called by its code alone; None where the file shows none.
    subclassed: str | None = None

    #: Whether it is known which of its tensors are a model's; else some may be an optimizer's.
    tells_parameters: bool = True

    #: What it goes into where nothing else is asked for: of a container that is read and never written.
    written_as: Target | None = None

    #: Where it is read in a form that is never written, as YAML is, the suffix of what it goes into, which is of the
    #: same container.
    reformed: str | None = None

    def __init__(self, path: str, stored: Stored, findings: tuple[Finding, ...] = ()) -> None:
        self.path = path
        self.stored = stored
        self.findings = findings

    @property
    def content(self) -> Hashable | None:
        """A key that decides plan and report but for the path; None if these depend on more than can be compared.

        What JSON says is there as it is spelled: values that Python calls equal (1, 1.0, true) are spelled otherwise.
        """
        return None

    #: Characters of JSON in its `content`.
    json_size = 0

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor of the source."""
        return self.stored.tensors

    def hdf5_of(self, tensor: Tensor) -> GuardedFile | None:
        """Return the HDF5 file in which the tensor's `ref` is a path, to be copied as stored; else None."""
        return None

    @property
    def assets(self) -> tuple[str, ...]:
        """Files that the layers keep beside their weights (vocabularies), by their path in the source."""
        return ()

    @property
    def members(self) -> Sequence[str]:
        """Paths of the files inside the source; () if it is one file."""
        return ()

    def member(self, name: str) -> Iterator[bytes]:
        """Yield the content of one of the `members`, in blocks. Raises Unreadable."""
        raise KeyError(name)

    def member_size(self, name: str) -> int:
        """Return the size of one of the `members` in bytes."""
        raise KeyError(name)

    def vocabulary_members(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each layer that keeps its vocabulary in a file, in nested models too, and that member."""
        return iter(())

    @property
    def form(self) -> str:
        """The container's name, or that of the form of it that is read and never written: `yaml`."""
        return self.container

    @property
    def json_style(self) -> JsonStyle:
        """The layout of its JSON text."""
        return JsonStyle()

    @property
    def h5_style(self) -> H5Style:
        """The storage of its attributes, if it is Keras's HDF5."""
        return H5Style()

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """Return the plan for the model; `architecture` is the one given for weights alone.

        Raises:
            NotAGraph: the layers of the architecture cannot be connected.

        """
        given_architecture = architecture if self.stored.architecture is None else None
        return plan(self.stored, architecture=given_architecture, choices=choices)

    def placed_in(self, target: TargetModel) -> PlacedWeights:
        """Return weights without an architecture in the layers of a model that the caller built. Raises Refused."""
        from unnest.core.weight_transfer.load_into_model import place_lists

        return place_lists(
            self.stored.groups, target, self.stored.keras_version, self.stored.backend
        )

    def state_alone(self, stored: Stored) -> StateAlone | None:
        """Return the optimizer's state of weights without compile settings; `stored` is the model that they make.

        A weights-only `.h5` of Keras 1 or 2 has none.
        """
        return None

    def cut(self) -> bytes:
        """Return the serving graph with one tower of each wrapper, as `saved_model.pb` holds it.

        Raises:
            Refused: the source is not a SavedModel, or its graph cannot be cut.

        """
        raise Refused(
            "cannot-write",
            f"{self.path}: a SavedModel can only be cut out of a SavedModel; use another --to",
        )

    def parts(self) -> tuple[str, ...]:
        """Return the files of the source if `path` is only the beginning of their names, the index last."""
        return (self.path,)

    @abstractmethod
    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """Yield the tensor's bytes, row-major and in its dtype's byte order, at most TRANSFER_BLOCK at a time."""

    def check_sums(self) -> None:  # noqa: B027 - most containers have no sums, or check tensors as they hand them out
        """Hold the file against its own checksums, before anything is written. Raises Unreadable."""

    def close(self) -> None:  # noqa: B027 - most containers have nothing to let go of
        """Let go of the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Container(ABC):
    """One file format: how it is read, written and read back."""

    name: ClassVar[ContainerName]
    #: The suffix of a default output; empty for folders.
    suffix: ClassVar[str]
    #: Whether it is a folder: `write` then fills one that has been made.
    folder: ClassVar[bool] = False

    @abstractmethod
    def open(self, path: str) -> Source:
        """Read everything but the tensors' bytes. Raises Unreadable."""

    @abstractmethod
    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Write `output`, with tensors of `source`, to `path`.

        A file does not exist there yet, a folder does. The same output and source give the same bytes, whatever the
        path, the clock or the machine.

        Raises:
            Refused: this container cannot hold the output.
            Failed: the system cannot write it.

        """

    @abstractmethod
    def verify(
        self, output: Output, source: Source, path: str, progress: OnBytes
    ) -> tuple[str, ...]:
        """Read `path` back and name what was compared. Raises Failed where anything differs."""


class ReadOnlyContainer(Container):
    """A file format that is never written: `target_format` sends what comes out of it to another."""

    #: The reason for a refusal, with the container to ask for instead.
    not_written: ClassVar[str]

    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Raise Refused: this container is never written."""
        raise Refused("cannot-write", f"{path}: {self.not_written}")

    def verify(
        self, output: Output, source: Source, path: str, progress: OnBytes
    ) -> tuple[str, ...]:
        """Raise Refused: this container is never written."""
        raise Refused("cannot-write", f"{path}: {self.not_written}")


def check_same_model(model: Stored, written: Stored, path: str) -> None:
    """Raise Failed unless the model read back from `path` equals the one to be written, tensor bytes apart."""
    for what in ("contents", "architecture", "training", "keras_version", "backend"):
        meant, read = getattr(model, what), getattr(written, what)
        # As text where they are not equal: NaN, which JSON may hold, does not equal itself.
        if meant != read and dump(meant) != dump(read):
            raise Failed(
                "read-back", f"{path}: the {what} reads back differently; the disk may be failing"
            )
    if [_outline(g.tensors) for g in model.groups] != [
        _outline(g.tensors) for g in written.groups
    ] or [g.name for g in model.groups] != [g.name for g in written.groups]:
        raise Failed(
            "read-back", f"{path}: the layers read back differently; the disk may be failing"
        )
    if _outline(model.optimizer) != _outline(written.optimizer):
        raise Failed(
            "read-back",
            f"{path}: the optimizer state reads back differently; the disk may be failing",
        )


def _outline(tensors: tuple[Tensor, ...] | None) -> list[tuple[str, tuple[int, ...], str]] | None:
    return None if tensors is None else [(t.name, t.shape, t.dtype) for t in tensors]
