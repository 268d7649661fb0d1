"""Keras's layer classes: one record each, by family; `record.py` says what a record holds, `catalog.py` finds one."""
