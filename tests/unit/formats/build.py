"""Sources in memory: stored models without a disk."""

from __future__ import annotations

from collections.abc import Iterator

from unnest.core.model import Stored, Tensor
from unnest.formats.container_interface import ContainerName, Source


def file(
    container: ContainerName = "h5", stored: Stored | None = None, assets: tuple[str, ...] = ()
) -> Source:
    """A file of a container, called `m`, with files that layers keep."""

    class File(Source):
        """Tensors that no test reads."""

        @property
        def assets(self) -> tuple[str, ...]:
            return assets

        def blocks(self, tensor: Tensor) -> Iterator[bytes]:
            raise AssertionError(tensor)

    File.container = container
    return File("m", stored or Stored("model"))
