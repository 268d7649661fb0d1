"""Of `unnest/cli`: what a command line says, and what is printed."""
