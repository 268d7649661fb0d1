"""Make the page that `--report` writes, of one model or of many: self-contained, run by the scripts in it alone.

Start at `render`, which puts it together. `page_data` makes the data, `page_graphs` places graphs; the scripts beside
them show both, and put what comes from a file into the page as text only.
"""
