"""The pure core, fed with values."""
