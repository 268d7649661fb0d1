"""Read and write model files: one interface, a module or folder for each container, and detection by content.

Start at `container_interface`. Nothing else opens a model file. What a file's model becomes is decided in `core`.
"""
