"""The command line: parse, call, render. A module a command; everything heavy is loaded inside the commands.

Start at `app`. Reports go to stdout, messages and progress to stderr. Exit codes are in
`signals_and_exit_codes.EXITS`.
"""
