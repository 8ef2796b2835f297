"""The supervisor, and what it knows of its children: starting, hearing, burying and stopping them."""
