"""The few protobuf messages of TensorFlow's files that this program reads, as definitions of its own.

Field numbers are facts of the format (source: files written by TensorFlow 1.13 to 2.21; `tests` compare every number
with an installed TensorFlow). The messages live in a pool and a package of their own, so that they share a process
with TensorFlow's, and are built on first use, without protoc. What is not named here is kept by the runtime as it is
and written back; where something unknown could change the meaning of what is read, `strict` refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeAlias, cast

from unnest.errors import Unreadable

#: A message; its class is built at run time.
Message: TypeAlias = Any

PACKAGE = "unnest.wire"

#: message: "name number type" lists; `*` repeats, `type|n` is member of the oneof n, `map<V>` maps text to V.
TABLE = {
    "BundleHeader": "num_shards 1 int32, endianness 2 int32, version 3 Versions",
    "Versions": "producer 1 int32, min_consumer 2 int32, bad_consumers 3 *int32",
    "BundleEntry": "dtype 1 int32, shape 2 Shape, shard_id 3 int32, offset 4 int64, size 5 int64, crc32c 6 fixed32,"
    "slices 7 *Slice",
    "Shape": "dim 2 *Dim, unknown_rank 3 bool",
    "Dim": "size 1 int64, name 2 string",
    "Slice": "extent 1 *Extent",
    "Extent": "start 1 int64, length 2 int64|has_length",
    "ObjectGraph": "nodes 1 *Object",
    "Object": "children 1 *Child, attributes 2 *Attribute, slot_variables 3 *Slot",
    "Child": "node_id 1 int32, local_name 2 string",
    "Attribute": "name 1 string, full_name 2 string, checkpoint_key 3 string",
    "Slot": "original 1 int32, slot_name 2 string, variable 3 int32",
    "SavedModel": "schema_version 1 int64, meta_graphs 2 *MetaGraph",
    "MetaGraph": "info 1 MetaInfo, graph 2 Graph, saver 3 Saver, collections 4 map<Collection>,"
    "signatures 5 map<Signature>, assets 6 *Asset, objects 7 SavedObjects",
    "MetaInfo": "graph_version 1 string, stripped_ops 2 bytes, any_info 3 bytes, tags 4 *string,"
    "tensorflow_version 5 string, tensorflow_git_version 6 string, stripped_default_attrs 7 bool,"
    "function_aliases 8 map<string>",
    "Graph": "node 1 *Node, library 2 Library, version 3 int32, versions 4 Versions, debug_info 5 bytes",
    "Node": "name 1 string, op 2 string, input 3 *string, device 4 string, attr 5 map<Value>, debug 6 bytes,"
    "full_type 7 bytes",
    "Value": "list 1 List|v, s 2 bytes|v, i 3 int64|v, f 4 float|v, b 5 bool|v, type 6 int32|v, shape 7 Shape|v,"
    "tensor 8 Array|v, placeholder 9 string|v, func 10 Call|v",
    "List": "s 2 *bytes, i 3 *int64, f 4 *float, b 5 *bool, type 6 *int32, shape 7 *Shape, tensor 8 *Array,"
    "func 9 *Call",
    "Call": "name 1 string, attr 2 map<Value>",
    "Array": "dtype 1 int32, shape 2 Shape, version 3 int32, content 4 bytes, float_val 5 *float, double_val 6 *double,"
    "int_val 7 *int32, string_val 8 *bytes, int64_val 10 *int64, bool_val 11 *bool",
    "Library": "function 1 *Function, gradient 2 *bytes",
    "Function": "signature 1 Op, node_def 3 *Node, ret 4 map<string>, attr 5 map<Value>, control_ret 6 map<string>,"
    "arg_attr 7 *bytes, resource_ids 8 *bytes",
    "ArgAttr": "key 1 int32, value 2 Attrs",
    "Attrs": "attr 1 map<Value>",
    "Op": "name 1 string, input_arg 2 *Arg, output_arg 3 *Arg, is_stateful 17 bool, control_output 20 *string",
    "Arg": "name 1 string, type 3 int32, type_attr 4 string, number_attr 5 string, type_list_attr 6 string",
    "Signature": "inputs 1 map<Info>, outputs 2 map<Info>, method 3 string, defaults 4 map<Array>",
    "Info": "name 1 string|how, dtype 2 int32, shape 3 Shape, sparse 4 Sparse|how, composite 5 Composite|how",
    "Sparse": "values 1 string, indices 2 string, shape 3 string",
    "Composite": "type_spec 1 bytes, components 2 *Info",
    "Saver": "filename 1 string, save 2 string, restore 3 string",
    "Collection": "nodes 1 Texts|kind, bytes 2 Blobs|kind, ints 3 bytes|kind, floats 4 bytes|kind, any 5 bytes|kind",
    "Texts": "value 1 *string",
    "Blobs": "value 1 *bytes",
    "Asset": "info 1 Info, filename 2 string",
    "Variable": "name 1 string, initializer 2 string, snapshot 3 string, slice 4 SaveSlice,"
    "resource 5 bool, initial 6 string",
    "SaveSlice": "full_name 1 string, full_shape 2 *int64, offset 3 *int64, shape 4 *int64",
    "SavedObjects": "nodes 1 *SavedObject, functions 2 map<Concrete>",
    "SavedObject": "children 1 *Child, slot_variables 3 *Slot, user 4 User|kind, asset 5 SavedAsset|kind,"
    "function 6 SavedFunction|kind, variable 7 SavedVariable|kind, bare 8 Bare|kind, constant 9 Constant|kind,"
    "resource 10 Resource|kind, saveables 11 map<Saveable>, captured 12 bytes|kind, registered_name 13 string,"
    "user_proto 14 bytes, dependencies 15 *Child, registered_saver 16 string",
    "User": "identifier 1 string, version 2 Versions, metadata 3 string",
    "SavedAsset": "index 1 int32",
    "SavedFunction": "names 1 *string, spec 2 bytes",
    "SavedVariable": "dtype 1 int32, shape 2 Shape, trainable 3 bool, name 6 string, device 7 string",
    "Bare": "name 1 string, argument_keywords 2 *string",
    "Constant": "operation 1 string",
    "Resource": "device 1 string",
    "Saveable": "save 2 int32, restore 3 int32",
    "Concrete": "bound 2 *int32, inputs 3 bytes, outputs 4 bytes",
    "KerasMetadata": "nodes 1 *KerasNode",
    "KerasNode": "node_id 2 int32, path 3 string, identifier 4 string, metadata 5 string, version 6 Versions",
}

#: protobuf's numbers of its scalar types.
SCALARS = {
    "double": 1,
    "float": 2,
    "int64": 3,
    "int32": 5,
    "fixed32": 7,
    "bool": 8,
    "string": 9,
    "bytes": 12,
}

#: What protobuf says where it had no memory for what it read (source: 7.36.2); to it, the same error.
NO_MEMORY = "alloc failed"

#: Messages in which an unknown field would change what the known ones mean.
STRICT = frozenset(
    {"BundleHeader", "BundleEntry", "Shape", "Slice", "Extent", "SavedModel", "MetaGraph", "Graph"}
)

_FIELD = re.compile(r"(\w+) (\d+) (\*?)(?:(map)<(\w+)>|(\w+))(?:\|(\w+))?")


@cache
def _classes() -> dict[str, Any]:
    """Return the message classes of TABLE by name, made by protobuf's descriptors."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(
        name="unnest_wire.proto", package=PACKAGE, syntax="proto3"
    )
    for name, fields in TABLE.items():
        message = file.message_type.add(name=name)
        for field, number, many, is_map, value, kind, oneof in _FIELD.findall(fields):
            _declare(message, field, int(number), value or kind, is_map or many, oneof)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name in TABLE
    }


def _declare(message: Message, name: str, number: int, kind: str, form: str, oneof: str) -> None:
    """Declare one field; `form` is "map", "*" for repeated, or ""."""
    field = message.field.add(name=name, number=number, label=3 if form else 1)
    if form == "map":
        entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
        entry.options.map_entry = True
        for part, at, part_kind in (("key", 1, "string"), ("value", 2, kind)):
            _typed(entry.field.add(name=part, number=at, label=1), part_kind)
        _typed(field, f"{message.name}.{entry.name}")
        return
    _typed(field, kind)
    if oneof:
        names = [o.name for o in message.oneof_decl]
        if oneof not in names:
            message.oneof_decl.add(name=oneof)
            names.append(oneof)
        field.oneof_index = names.index(oneof)


def _typed(field: Message, kind: str) -> None:
    if kind in SCALARS:
        field.type = SCALARS[kind]
    else:
        field.type, field.type_name = 11, f".{PACKAGE}.{kind}"


def new(name: str) -> Message:
    """Return an empty message."""
    return _classes()[name]()


def parse(name: str, data: bytes, where: str) -> Message:
    """Parse the message in `data`. Raises Unreadable naming `where`, and MemoryError."""
    from google.protobuf.message import DecodeError

    message = new(name)
    try:
        message.ParseFromString(data)
    except (DecodeError, ValueError, RecursionError) as e:
        if NO_MEMORY in str(e):
            raise MemoryError from e
        raise Unreadable(
            "damaged-protobuf", f"{where}: not a whole {name} message; copy the file again"
        ) from e
    if name in STRICT:
        strict(message, where)
    return message


def strict(message: Message, where: str) -> None:
    """Raise Unreadable if a message, or a strict one inside, has fields that this program does not know."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    unknown = [f.field_number for f in cast("Iterable[Any]", UnknownFieldSet(message))]
    if unknown:
        name = message.DESCRIPTOR.name
        raise Unreadable(
            "unknown-field",
            f"{where}: {name} has the unknown field {unknown[0]}; try a newer unnest",
        )
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.name in STRICT:
            for item in value if _many(field) else (value,):
                strict(item, where)


def _many(field: Message) -> bool:
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(field.label == field.LABEL_REPEATED)


def dump(message: Message) -> bytes:
    """Return the message's bytes, equal for equal content. Raises MemoryError.

    Protobuf has one EncodeError, which does not say why. Ours have no required fields, and those that were read nest no
    deeper than may be written: what is left is its memory.
    """
    from google.protobuf.message import EncodeError

    try:
        data: bytes = message.SerializeToString(deterministic=True)
    except EncodeError as e:
        raise MemoryError from e
    return data
