"""The ``sregym`` command."""
