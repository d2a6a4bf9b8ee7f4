"""What an episode was worth: the state oracle, the diagnosis judge, and how their verdicts make a reward."""
