"""What each instruction does to a frame: jumps, variables, containers, operators and calls, a module for each."""
