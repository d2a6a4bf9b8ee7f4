"""The wire formats of model servers: from a request to a body, from an answer to what it says. Pure."""
