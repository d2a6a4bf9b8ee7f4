"""Packaged data: how the fields of Kubernetes objects are numbered in protobuf bodies."""
