"""Rules and guards broken on purpose: each must turn a test red that names it."""
