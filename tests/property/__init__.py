"""Properties that hold for any model: what is wrapped is unwrapped to exactly itself, and nothing else is touched."""
