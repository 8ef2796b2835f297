"""Facts about this machine and its configuration."""
