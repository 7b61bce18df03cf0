"""Adapters for learning libraries, one module each, which imports its library."""
