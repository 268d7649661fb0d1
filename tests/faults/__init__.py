"""Every step of a write, killed or failing: what is left is old or new, and the next run finds no debris."""
