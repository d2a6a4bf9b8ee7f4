"""What every world must do, whichever backend is behind it."""
