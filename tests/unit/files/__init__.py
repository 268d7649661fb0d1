"""Of `unnest/files`: file by file."""
