"""The commands of `mvsim-gym`, a module each. `add` adds the arguments of a command, and `run` takes their values."""
