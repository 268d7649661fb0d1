"""A fuzz loop over the readers and writers: `python -m fuzz.run --minutes 10`."""
