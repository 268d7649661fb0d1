"""Hold the values that inspect() and fix() return, and render them as text, JSON, pages and pictures.

Start at `result`. Sees the core alone: reports are filled in `unnest.build_report`, and files are written by
`unnest.write_pages_and_diagrams`.
"""
