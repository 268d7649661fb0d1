"""Find the layers of a checkpoint's variables by their names. Start at `assign_checkpoint_variables`."""
