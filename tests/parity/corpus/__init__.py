"""The command lines on which the two kubectls are compared, by the state of the world they are typed in."""
