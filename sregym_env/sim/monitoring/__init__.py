"""What watches the cluster: metrics-server's figures and the alerting rules, read from state and history."""
