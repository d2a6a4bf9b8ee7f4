"""Actions that are meant to cost more than they should, and what they are played against."""
