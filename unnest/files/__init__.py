"""Write files and folders so that they are complete or absent, whatever stops the run.

Start at `write_output_atomically`. Bytes and names only: nothing here knows a model or a format.
"""
