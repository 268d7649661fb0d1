"""Many paths in one run: folders searched, tasks in order, worker processes, a cluster, and where outputs go.

One file is `unnest.inspection` and `unnest.repair`.
"""
