"""What file formats store of operations, read as calls (`ops.call`)."""
