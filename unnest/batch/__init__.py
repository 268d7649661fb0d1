"""Inspect or fix many paths in one run: walk folders, run tasks in order, in processes or on a cluster, place outputs.

Start at `task_runner`. One file is `unnest.inspection` and `unnest.repair`.
"""
