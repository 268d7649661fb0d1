"""The file formats: one interface (`base`), one module or folder for each container, and detection by content.

Nothing else opens a model file. What a file's model becomes is decided in `core`.
"""
