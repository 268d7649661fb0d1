"""Of `unnest/batch`: file by file."""
