"""Write what a plan says: name and container of an output, writing and reading back, publication, `--verify`.

Start at `apply_plan`. The one atomic writer below is in `files`.
"""
