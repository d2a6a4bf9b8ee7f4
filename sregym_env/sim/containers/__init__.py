"""What a container is made of: image, environment, mounted files, and what it asks of a machine.

In: pods, ConfigMaps, Secrets and volumes of a world. Out: what a process in a container reads. Nothing runs here.
"""
