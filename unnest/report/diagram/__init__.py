"""Pictures of a model and of the wrapper in it: as SVG, as a page, as Mermaid, and as a tree for the terminal.

`drawing` makes a small value of the architecture and of what was recognised in it; one module a suffix renders that,
and `renderers` knows which. A terminal needs none of those, so they are not loaded with the package.
"""
