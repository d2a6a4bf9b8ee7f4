"""Virtual time and deterministic chance: the only sources of "when" and "which" in the project."""
