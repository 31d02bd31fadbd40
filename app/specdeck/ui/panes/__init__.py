"""Areas of the dashboard; adding one is one file."""
