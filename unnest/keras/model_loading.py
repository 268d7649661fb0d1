"""`load_model` for whoever has a file and wants the model: what `unnest fix` would write, loaded in the running Keras.

This is the one place where this package calls the file side of `unnest`, by its public functions.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import unnest
from unnest.findings import Finding
from unnest.keras import checkpoint_storage
from unnest.keras.keras_api import KERAS, KerasApi, Model, keras_in_use

if TYPE_CHECKING:
    from unnest.options import Architecture

#: What each Keras is called where a report says that a file does not load in it.
SOFTWARE = {"keras": "Keras 3", "tf_keras": "tf_keras"}


def load_model(
    path: str | os.PathLike[str],
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,  # noqa: A002 - Keras's own name
    safe_mode: bool = True,
    *,
    architecture: Architecture = None,
) -> Model:
    """Return the model in any file that `unnest fix` takes, single-device, in the Keras in use, on any backend.

    `path` is a file of any container, a SavedModel, a checkpoint's prefix, or a URL. `architecture` is for weights
    alone: the JSON, or the file that holds it, of the model that was saved or of its template.

    A clean file of the running Keras goes straight to Keras's own `load_model`, with these arguments. Any other is
    fixed (and, for Keras 3, converted) into a private temporary folder first; what the report would say of it comes as
    warnings. An architecture alone gives a model with fresh weights.

    Raises:
        ValueError: the file cannot be read or fixed, or holds weights without an `architecture`. With `safe_mode` also:
            it holds stored code or names a file as a vocabulary, which no Keras can be asked to refuse in all
            containers, or, before Keras 3.12, it names code of any module.
        Exception: what Keras raises for a class that it does not find.

    """
    path, api = os.fspath(path), keras_in_use()
    report = unnest.inspect(path, architecture=architecture)
    report.raise_for_error()
    if safe_mode and api is KERAS:
        _check_named_code(report, str(api.keras.__version__))
    if report.contents == "weights" and architecture is None:
        raise ValueError(
            f"{path}: holds weights alone: pass architecture=, the JSON of its model, or build the model and call "
            "unnest.keras.load_weights"
        )
    if _is_todays(report, api) and not checkpoint_storage.is_remote(path):
        _warn(report.findings)
        return _load_by_keras(
            path, report, api, custom_objects, compile=compile, safe_mode=safe_mode
        )
    with tempfile.TemporaryDirectory(prefix="unnest-") as folder:
        output = os.path.join(folder, "model" + _suffix(report, api))
        dialect: dict[str, Any] = {"keras": "3"} if api is KERAS and _is_older(report) else {}
        result = unnest.fix(path, output, architecture=architecture, **dialect)
        result.raise_for_error()
        why = result.does_not_load_in.get(SOFTWARE[api.name])
        if why is not None:
            raise ValueError(f"{path}: not in {SOFTWARE[api.name]}: {why}")
        has_code = any(result.needs)
        _warn(f for f in result.findings if has_code or f.code != "stored-code")
        return _load_by_keras(
            output, result, api, custom_objects, compile=compile, safe_mode=safe_mode
        )


def _check_named_code(report: unnest.Report, version: str) -> None:
    """Raise ValueError where the running Keras may import what a file names, safe mode or not.

    (Source: CVE-2025-1550; with Keras 3.6 a file's own module was run, with 3.12 it is not.)
    """
    is_old = tuple(int(part) for part in version.split(".")[:2]) < SAFE
    if is_old and any(finding.code == "stored-code" for finding in report.findings):
        raise ValueError(
            f"{report.path}: names code that Keras {version} may run, safe mode or not: install Keras 3.12 or later, "
            "or pass safe_mode=False if you trust it"
        )


SAFE = (3, 12)
"""The first Keras of which it was seen that safe mode keeps to itself."""


def _warn(findings: Iterable[Finding]) -> None:
    for finding in findings:
        warnings.warn(f"{finding.message} [{finding.code}]; {finding.hint}", stacklevel=3)


def _is_older(report: unnest.Report) -> bool:
    """Return True for a file of Keras 1 or 2; Keras 3 loads its own."""
    return (
        "Keras 3" in report.does_not_load_in
        or report.container in IN_PARTS
        or report.contents == "weights"
    )


IN_PARTS = ("saved_model", "checkpoint")
"""Containers of Keras 1 and 2 whose reports do not say where their model loads, for it is not loaded from there."""


def _is_todays(report: unnest.Report, api: KerasApi) -> bool:
    """Return True if Keras's own loader does the whole work."""
    loads = SOFTWARE[api.name] not in report.does_not_load_in
    files = ("h5", "keras") if api is KERAS else ("h5", "keras", "saved_model")
    return report.verdict == "clean" and loads and report.container in files


def _suffix(report: unnest.Report, api: KerasApi) -> str:
    """Return the suffix of the container to write: the source's own if the running Keras reads it in that dialect."""
    if report.contents == "architecture":
        return ".json"
    if api is KERAS and _is_older(report):
        return ".keras"
    in_place = report.container == "keras" and SOFTWARE[api.name] not in report.does_not_load_in
    return ".keras" if in_place else ".h5"


def _load_by_keras(
    path: str,
    report: unnest.Report,
    api: KerasApi,
    custom_objects: Mapping[str, Any] | None,
    *,
    compile: bool,  # noqa: A002 - Keras's own name
    safe_mode: bool,
) -> Model:
    """Load a file with Keras's own loader. Raises ValueError."""
    if report.needs.stored_code and safe_mode:
        raise ValueError(
            f"{report.path}: holds stored code (Lambda layers); pass safe_mode=False if you trust it"
        )
    if report.needs.files and safe_mode:
        files = ", ".join(map(repr, report.needs.files))
        raise ValueError(
            f"{report.path}: reads vocabularies from {files}; pass safe_mode=False if you trust it"
        )
    custom = None if custom_objects is None else dict(custom_objects)
    if report.contents != "architecture":
        return api.keras.models.load_model(
            path, custom_objects=custom, compile=compile, safe_mode=safe_mode
        )
    with open(path, encoding="utf-8") as file:
        return api.keras.models.model_from_json(file.read(), custom_objects=custom)


__all__ = ["load_model"]
