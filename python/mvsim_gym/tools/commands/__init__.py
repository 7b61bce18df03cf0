"""The commands of `mvsim-gym`, a module each: HELP, DESCRIPTION, `add` for its arguments, `run` with their values."""
