"""Quality control of films."""
