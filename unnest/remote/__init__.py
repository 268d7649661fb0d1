"""Read and write models in object stores and on the web, by URL, through fsspec (extra `remote`).

Start at `run_on_local_copy`: a copy is made here, and worked on as any local file.
"""
