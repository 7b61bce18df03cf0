"""Adapters for learning libraries, one module each. Only that module imports its library."""
