"""Running worlds and environments in a browser; needs the extra `view`, which is imported with the first view."""
