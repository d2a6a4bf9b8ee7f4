"""A Gymnasium environment in which language-model agents learn site reliability engineering."""
