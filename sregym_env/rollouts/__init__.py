"""Playing many episodes: policies, the runner, trajectory records, validation of the problem space."""
