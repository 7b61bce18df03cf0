"""Views of running worlds and environments in a browser. They need the extra `view`, which the first view imports."""
