"""The model without its wrappers: graphs taken apart and put together again, weights assigned."""
