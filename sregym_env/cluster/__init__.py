"""The seam between everything that plays and everything that simulates or is real."""
