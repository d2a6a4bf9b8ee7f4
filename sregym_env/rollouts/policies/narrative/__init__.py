"""What a demonstrating expert says and does: looks, what it makes of them, diagnoses, repairs. All of it in words."""
