"""The machine under the containers, as an engineer looks at it: what its kernel counts, what it logs, and the tools for both."""
