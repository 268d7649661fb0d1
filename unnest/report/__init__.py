"""Values that inspect() and fix() return, and their rendering as text, JSON, pages and pictures.

Sees the core alone; files are written by `unnest.write_pages_and_diagrams`.
"""
