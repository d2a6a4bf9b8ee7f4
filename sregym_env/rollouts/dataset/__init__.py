"""Datasets of episodes: written while they are played, read as streams, exported for trainers."""
