"""Read the operations of each file format as calls (`ops.call`)."""
