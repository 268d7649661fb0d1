"""Publish an output: what it must not touch, its files (a checkpoint has several), and their permissions."""

from __future__ import annotations

import os
import re
import stat

from unnest.errors import Refused
from unnest.files import overwrite_checks, write_errors, write_output_atomically
from unnest.formats.container_interface import Source, TargetFormat
from unnest.formats.open_container import container
from unnest.options import FixOptions


def check_place(
    source: Source, target_format: TargetFormat, output_path: str, options: FixOptions
) -> None:
    """Raise Refused if the output would touch an input, or if --force would replace something of another kind."""
    folder = is_folder(target_format)
    if not folder and output_path.endswith(("/", os.sep)):
        raise Refused(
            "in-the-way",
            f"{output_path}: ends as a folder's name does, and the output is a file; name the file",
        )
    if not folder and os.path.isdir(output_path) and not os.path.islink(output_path):
        named = os.path.join(output_path, os.path.basename(source.path))
        raise Refused(
            "in-the-way",
            f"{output_path}: is a folder, and the output is a file; name the file, as {named}",
        )
    backup = os.path.realpath(source.path) + options.backup
    targets = written_paths(source, target_format, output_path)
    for inputs in (overwrite_checks.Inputs.of((*source.parts(), source.path)), *options.inputs):
        for target in dict.fromkeys((output_path, *targets)):
            overwrite_checks.check_not_an_input(target, inputs)
    for target in targets:
        overwrite_checks.check_not_of_the_system(target)
        if options.force and os.path.lexists(target):
            if os.path.realpath(target) == backup:
                raise write_errors.backup_exists(target)
            overwrite_checks.check_same_kind(target, folder=folder, new_folder=source.path)


def written_paths(source: Source, target_format: TargetFormat, output_path: str) -> tuple[str, ...]:
    """Return every path that is written at `output_path`; a checkpoint has several, its index last."""
    if target_format.container != "checkpoint":
        return (output_path,)
    return tuple(output_path + path[len(source.path) :] for path in source.parts())


def is_folder(target_format: TargetFormat) -> bool:
    """Return True if the output is a folder."""
    return container(target_format.container).folder


def publish(
    source: Source,
    target_format: TargetFormat,
    output_path: str,
    fill: write_output_atomically.Fill,
    check: write_output_atomically.Check,
    force: bool,
) -> write_output_atomically.WriteOutcome:
    """Publish the output under its path, whatever files it consists of."""
    modes = _modes(source, folder=is_folder(target_format))
    if target_format.container == "checkpoint":
        parts = list(
            zip(
                source.parts(),
                map(os.path.basename, written_paths(source, target_format, output_path)),
                strict=True,
            )
        )
        return write_output_atomically.publish_parts(
            output_path, parts, force=force, stale=_stale_parts(output_path, parts), modes=modes
        )
    publish_one = (
        write_output_atomically.publish_folder
        if is_folder(target_format)
        else write_output_atomically.publish_file
    )
    return publish_one(output_path, fill, check, force=force, modes=modes)


def _stale_parts(output_path: str, parts: list[tuple[str, str]]) -> list[str]:
    """Return shards and graph of the replaced checkpoint that the new one does not replace."""
    folder, prefix = os.path.split(output_path)
    own = re.compile(re.escape(prefix) + r"\.(data-\d{5}-of-\d{5}|meta)")
    if not os.path.isfile(output_path + ".index"):
        return []
    return sorted(
        {n for n in os.listdir(folder or ".") if own.fullmatch(n)} - {name for _, name in parts}
    )


def _modes(source: Source, *, folder: bool) -> write_output_atomically.Modes:
    """Return the permission bits of the input's file of that name; for others, those that all its files share."""
    is_tree = os.path.isdir(source.path)
    if is_tree:
        paths = [
            os.path.join(root, name) for root, _, names in os.walk(source.path) for name in names
        ]
    else:
        paths = list(source.parts())
    shared = 0o777
    for path in paths:
        shared &= stat.S_IMODE(os.stat(path).st_mode)
    if is_tree:  # whom a folder keeps out must not read what comes out of it
        shared &= os.stat(source.path).st_mode & 0o444 | 0o333

    def bits(inner: str) -> int:
        path = os.path.join(source.path, inner) if inner else source.path
        return (
            stat.S_IMODE(os.stat(path).st_mode)
            if is_tree and folder and os.path.exists(path)
            else shared
        )

    return bits
