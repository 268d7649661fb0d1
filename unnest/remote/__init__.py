"""Models in object stores and on the web, by URL, through fsspec (extra `remote`).

A copy is made here, and worked on as any local file.
"""
