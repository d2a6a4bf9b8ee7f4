"""Apache Kafka as one KRaft node: the broker, its consumer groups, and the tools of its image.

* :mod:`~.settings`: what its environment says,
* :mod:`~.groups`: topics, consumer groups and offsets, as functions of time,
* :mod:`~.broker`: the program,
* :mod:`~.producing`: a tool that writes records into a topic,
* :mod:`~.tools`: ``kafka-topics.sh`` and its neighbours.
"""
