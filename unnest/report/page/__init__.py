"""The page that `--report` writes, of one model or of many: self-contained, and run by the scripts in it alone.

`render` puts it together. `document` makes the data, `pictures` places graphs; the scripts beside them show both, and
put what comes from a file into the page as text only.
"""
