"""Recognise the path-keyed layout of weights in HDF5 (`.weights.h5`, the weights of a `.keras`)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable

from unnest.formats.hdf5.dataset_record_and_limits import text_of

#: What leads from a model to its layers in a path-keyed file; the second in Keras 2.12 to 2.14.
LAYER_ATTRIBUTES = ("layers", "_layer_checkpoint_dependencies")


PATHS_OF_WINDOWS = tuple(f"{attribute}\\" for attribute in LAYER_ATTRIBUTES)
"""Beginnings of the paths of layers as Windows joins them."""


def is_path_keyed(
    has_attribute: Callable[[str], bool],
    has_link: Callable[[str], bool],
    links: Callable[[], Iterable[str]],
) -> bool:
    """Return True if the root of an HDF5 file has the path-keyed layout, not the older one with lists of names.

    `links` gives the names of what the root holds, among others.
    """
    if any(map(has_attribute, ("model_config", "layer_names", "layer_names0"))):
        return False
    has_layers = any(map(has_link, LAYER_ATTRIBUTES)) or (
        has_link("vars") and any(map(is_of_windows, links()))
    )
    return has_layers and not has_link("model_weights")


def is_of_windows(link: str) -> bool:
    """Return True if a link at the root of a path-keyed file is a path of Windows, with a backslash for each `/`.

    Keras 2.12 to 2.15 join the names of attributes as the system joins those of files, and HDF5, which knows `/` alone,
    takes them for one name. (Source: saving_lib.py of Keras 2.13 and 2.15, which call tf.io.gfile.join; a public file
    of Keras 2.13.1; Keras 3 writes `/` on every system.)
    """
    return link.startswith(PATHS_OF_WINDOWS)


#: Links at the root of an HDF5 file, of which a path-keyed one has those of layers first.
MAX_LINKS_LOOKED_AT = 1000


def is_path_keyed_file(path: str) -> bool:
    """Return True if an HDF5 file has path-keyed weights, by its top level alone."""
    from h5py import h5a, h5f, h5g

    try:
        file = h5f.open(os.fsencode(path), h5f.ACC_RDONLY)
    except (OSError, RuntimeError, ValueError):
        return False  # the container says what is wrong with it
    try:
        return is_path_keyed(
            lambda name: h5a.exists(file, name.encode()),
            lambda name: name.encode() in file,
            lambda: map(text_of, itertools.islice(h5g.open(file, b"/"), MAX_LINKS_LOOKED_AT)),
        )
    except (OSError, RuntimeError, ValueError, KeyError):
        return False
    finally:
        file.close()
