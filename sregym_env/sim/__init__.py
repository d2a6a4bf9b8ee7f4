"""The embedded cluster: a whole Kubernetes cluster on a virtual clock in one Python process."""
