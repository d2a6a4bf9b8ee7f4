"""What the source as a whole promises."""
