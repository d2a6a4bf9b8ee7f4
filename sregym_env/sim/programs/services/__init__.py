"""Microservices of any language: what each does is data, in a small language of steps over named peers.

* :mod:`~.steps`: what a service does when it starts and with each request,
* :mod:`~.peers`: whom it asks, and where it finds them,
* :mod:`~.settings`: one service, put together,
* :mod:`~.runtimes`: how its language logs, fails and stops,
* :mod:`~.protocols`: how it is spoken to,
* :mod:`~.drivers`: the client libraries, one file each,
* :mod:`~.starting`, :mod:`~.trail`: the machines that run the steps,
* :mod:`~.service`: the program.
"""
