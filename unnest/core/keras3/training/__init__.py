"""Convert compile settings, optimizers and their state, so that Keras 3 resumes training with them.

Start at `convert_compile_settings`.
"""
