"""File formats: one interface (`container_interface`), a module or folder for each container, and detection by content.

Nothing else opens a model file. What a file's model becomes is decided in `core`.
"""
