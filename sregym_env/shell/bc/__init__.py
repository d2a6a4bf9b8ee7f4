"""``bc``: a calculator of decimal numbers of any length, as GNU's 1.07."""

from sregym_env.shell.bc.command import Bc

__all__ = ["Bc"]
