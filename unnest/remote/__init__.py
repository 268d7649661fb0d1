"""Models in object stores and on the web, by URL, through fsspec (extra `remote`)."""
