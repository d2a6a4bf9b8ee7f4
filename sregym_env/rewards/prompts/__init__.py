"""What is said to the model that judges, as text with ``$places`` to fill in."""
