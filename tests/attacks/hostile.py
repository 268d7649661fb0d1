"""The attacks: one function each, named for what it does; each edits a good file, or writes a bad one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tests import makeh5

#: name -> (maker, the codes that are an answer to it)
ATTACKS: dict[str, tuple[Callable[[Path], None], str]] = {}

KERNEL = "model_weights/tmpl/d1/kernel:0"


def attack(code: str) -> Callable[[Callable[[h5py.File], None]], Callable[[h5py.File], None]]:
    """Register an edit of a good parallel file, and the code that the answer has."""

    def register(edit: Callable[[h5py.File], None]) -> Callable[[h5py.File], None]:
        def make(path: Path) -> None:
            makeh5.parallel_file(path)
            with h5py.File(
                path, "a", libver="latest" if "dense" in edit.__name__ else "earliest"
            ) as file:
                edit(file)

        ATTACKS[edit.__name__] = (make, code)
        return edit

    return register


@attack("link")
def external_link(file: h5py.File) -> None:
    """Reads a tensor out of another file."""
    del file[KERNEL]
    file[KERNEL] = h5py.ExternalLink("other.h5", "/secret")


@attack("link")
def external_link_to_a_layer(file: h5py.File) -> None:
    """Reads a whole layer out of another file."""
    del file["model_weights/tmpl"]
    file["model_weights/tmpl"] = h5py.ExternalLink("other.h5", "/layer")


@attack("link")
def soft_link(file: h5py.File) -> None:
    """Passes one tensor off as another."""
    del file[KERNEL]
    file[KERNEL] = h5py.SoftLink("/model_weights/tmpl/d1/bias:0")


@attack("link")
def soft_link_nobody_asks_for(file: h5py.File) -> None:
    """Lies beside the model."""
    file["extra"] = h5py.SoftLink("/nowhere")


@attack("external-storage")
def external_storage(file: h5py.File) -> None:
    """Keeps its bytes in another file (CVE-2026-1669)."""
    del file[KERNEL]
    file.create_dataset(KERNEL, (4, 2), "f4", external=[("/etc/passwd", 0, 32)])


@attack("virtual-dataset")
def virtual_dataset(file: h5py.File) -> None:
    """Is put together from other files."""
    del file[KERNEL]
    layout = h5py.VirtualLayout((4, 2), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "secret", (4, 2))
    file.create_virtual_dataset(KERNEL, layout)


@attack("shared-object")
def group_loop(file: h5py.File) -> None:
    """Contains itself."""
    file["model_weights/tmpl/again"] = file["model_weights"]


@attack("shared-object")
def group_loop_at_the_root(file: h5py.File) -> None:
    """Contains everything."""
    file["root"] = file["/"]


@attack("shared-object")
def two_names_for_one_tensor(file: h5py.File) -> None:
    """A small file that unpacks to a large one."""
    file["model_weights/tmpl/d1/kernel:1"] = file[KERNEL]


@attack("absurd-size")
def contiguous_terabytes(file: h5py.File) -> None:
    """Declares what was never written."""
    del file[KERNEL]
    file.create_dataset(KERNEL, (1 << 40, 4), "f4")


@attack("absurd-size")
def chunked_terabytes(file: h5py.File) -> None:
    """The same, compressed."""
    del file[KERNEL]
    file.create_dataset(KERNEL, (1 << 40, 4), "f4", chunks=(1024, 4), compression="gzip")


@attack("too-deep")
def deep_groups(file: h5py.File) -> None:
    """Overflows whoever walks it recursively."""
    group = file
    for _ in range(2000):
        group = group.create_group("g")


@attack("not-a-tensor")
def text_for_a_tensor(file: h5py.File) -> None:
    """Strings live in a heap, of any size."""
    del file[KERNEL]
    file.create_dataset(KERNEL, data=["a", "b"], dtype=h5py.string_dtype())


@attack("not-a-tensor")
def a_record_for_a_tensor(file: h5py.File) -> None:
    """Is no array of numbers."""
    del file[KERNEL]
    file.create_dataset(KERNEL, data=np.zeros(4, [("a", "f4"), ("b", "i8")]))


@attack("not-a-tensor")
def a_reference_for_a_tensor(file: h5py.File) -> None:
    """Points at other objects."""
    del file[KERNEL]
    file.create_dataset(KERNEL, data=[file.ref], dtype=h5py.ref_dtype)


@attack("not-a-tensor")
def no_elements_at_all(file: h5py.File) -> None:
    """Has a type and no space."""
    del file[KERNEL]
    file.create_dataset(KERNEL, data=h5py.Empty("f4"))


@attack("missing-weight")
def an_absolute_name(file: h5py.File) -> None:
    """Leads out of its group."""
    file["elsewhere"] = np.zeros((4, 2), "f4")
    file["model_weights/tmpl"].attrs["weight_names"] = np.array([b"/elsewhere", b"d1/bias:0"])


@attack("missing-weight")
def dots_in_a_name(file: h5py.File) -> None:
    """Climbs out of its group."""
    file["elsewhere"] = np.zeros((4, 2), "f4")
    file["model_weights/tmpl"].attrs["weight_names"] = np.array([b"../../elsewhere", b"d1/bias:0"])


@attack("missing-weight")
def an_empty_name(file: h5py.File) -> None:
    """Names its own group."""
    file["model_weights/tmpl"].attrs["weight_names"] = np.array([b"", b"d1/bias:0"])


@attack("missing-layer")
def a_layer_that_is_a_tensor(file: h5py.File) -> None:
    """Is in the list, and no group."""
    del file["model_weights/tmpl"]
    file["model_weights/tmpl"] = np.zeros(3)


@attack("duplicate-name")
def a_layer_twice(file: h5py.File) -> None:
    """Is listed twice."""
    names = list(file["model_weights"].attrs["layer_names"])
    file["model_weights"].attrs["layer_names"] = np.array([*names, b"tmpl"])


@attack("duplicate-name")
def a_weight_twice(file: h5py.File) -> None:
    """Is listed twice."""
    file["model_weights/tmpl"].attrs["weight_names"] = np.array([b"d1/bias:0"] * 2)


@attack("bad-attribute")
def names_that_are_numbers(file: h5py.File) -> None:
    """Has a list of another kind."""
    file["model_weights"].attrs["layer_names"] = np.arange(5)


@attack("bad-attribute")
def one_name_for_a_list(file: h5py.File) -> None:
    """Has no list."""
    file["model_weights"].attrs["layer_names"] = "tmpl"


@attack("bad-attribute")
def names_in_rows_and_columns(file: h5py.File) -> None:
    """Has a table of names."""
    file["model_weights"].attrs["layer_names"] = np.array([[b"a", b"b"]])


@attack("bad-attribute")
def names_that_are_no_text(file: h5py.File) -> None:
    """Holds bytes that are no UTF-8."""
    file["model_weights"].attrs["layer_names"] = np.array([b"\xff\xfe"])


@attack("bad-attribute")
def a_list_for_a_config(file: h5py.File) -> None:
    """Has several configs."""
    file.attrs["model_config"] = np.array([b"{}", b"{}"])


@attack("bad-attribute")
def a_number_for_a_version(file: h5py.File) -> None:
    """Has a version of the wrong kind."""
    file.attrs["keras_version"] = 2.2


@attack("bad-attribute")
def a_reference_for_the_layers_version(file: h5py.File) -> None:
    """Has another version beside the layers, which is no version."""
    file["model_weights"].attrs["keras_version"] = file.ref


@attack("bad-attribute")
def a_dense_attribute_of_80_megabytes(file: h5py.File) -> None:
    """Has names without end."""
    del file["model_weights"]  # only groups of the new format have room for it
    file.create_group("model_weights").attrs.create("layer_names", np.full(80 << 10, b"n", "S1024"))


@attack("too-many-attributes")
def attributes_4_000(file: h5py.File) -> None:
    """Costs the library their number squared."""
    for number in range(4_000):
        file["model_weights"].attrs[f"a{number}"] = number


@attack("damaged")
def compile_settings_of_nothing(file: h5py.File) -> None:
    """Is a whole model, but for the model."""
    file.attrs["training_config"] = '{"loss": "mse"}'
    del file.attrs["model_config"]


def _with_layer(file: h5py.File, change: Callable[[list[Any]], None]) -> None:
    architecture = json.loads(file.attrs["model_config"])
    change(architecture["config"]["layers"])
    file.attrs["model_config"] = json.dumps(architecture)


@attack("not-a-graph")
def a_number_for_a_layer(file: h5py.File) -> None:
    """Lists a name that is no weight."""
    _with_layer(file, lambda layers: layers.append(7))


@attack("not-a-graph")
def nothing_for_a_config(file: h5py.File) -> None:
    """Has a layer without settings."""
    _with_layer(file, lambda layers: layers[1].update(config=None))


@attack("not-a-graph")
def an_output_below_zero(file: h5py.File) -> None:
    """Reads what is before the first."""
    _with_layer(
        file, lambda layers: layers[-1].update(inbound_nodes=[[[layers[1]["name"], 0, -5, {}]]])
    )


@attack("bad-json")
def json_that_is_none(file: h5py.File) -> None:
    """Is cut off."""
    file.attrs["model_config"] = '{"class_name": "Model", "config": {'


@attack("bad-json")
def json_of_another_kind(file: h5py.File) -> None:
    """Is no object."""
    file.attrs["model_config"] = "[1, 2, 3]"


@attack("bad-json")
def a_number_without_end(file: h5py.File) -> None:
    """Takes Python minutes to read."""
    file.attrs["model_config"] = '{"class_name": "Model", "config": ' + "9" * 1_000_000 + "}"


@attack("json-too-deep")
def deep_json(file: h5py.File) -> None:
    """Overflows recursive parsers."""
    file.attrs["model_config"] = "[" * 100_000


@attack("json-too-deep")
def deep_objects(file: h5py.File) -> None:
    """Overflows recursive parsers, and is whole."""
    file.attrs["training_config"] = '{"a":' * 50_000 + "1" + "}" * 50_000


def not_hdf5(path: Path) -> None:
    """The magic number alone."""
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 4096)


def torn(path: Path) -> None:
    """The first half of a file."""
    makeh5.parallel_file(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def data(path: Path) -> None:
    """HDF5 of another kind."""
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3)


def stub(path: Path) -> None:
    """The empty file that Keras 2.0.9 to 2.1.6 leaves behind."""
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = b"2.1.6"
        file.attrs["backend"] = b"tensorflow"


def no_weights(path: Path) -> None:
    """An architecture and nothing else."""
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(makeh5.template())


def zero_bytes(path: Path) -> None:
    """Nothing."""
    path.touch()


def text(path: Path) -> None:
    """No HDF5, no JSON."""
    path.write_text("hello")


ATTACKS |= {
    "not_hdf5": (not_hdf5, "damaged-hdf5"),
    "torn": (torn, "truncated"),
    "data": (data, "not-keras"),
    "stub": (stub, "stub"),
    "no_weights": (no_weights, "no-weights"),
    "zero_bytes": (zero_bytes, "empty"),
    "text": (text, "damaged"),
}
