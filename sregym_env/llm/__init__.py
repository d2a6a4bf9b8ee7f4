"""Language models behind HTTP: what is said to them, what they answer, and what that cost.

In flows a conversation (:mod:`~sregym_env.llm.messages`), out comes a reply with its usage and, where the server
gives them, token ids (:mod:`~sregym_env.llm.model`). :class:`~sregym_env.llm.endpoint.Endpoint` is the client; the wire
formats in ``wire/``, the retries, the ladder and the failures are pure. Nothing here knows clusters, episodes or rewards.
"""
