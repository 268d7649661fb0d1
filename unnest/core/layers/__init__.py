"""Keep one record for each of Keras's layer classes, by family.

Start at `record`, which says what a record holds; `catalog` finds one.
"""
