"""Many paths: searching folders, the order of results, processes, a cluster, and where outputs go."""
