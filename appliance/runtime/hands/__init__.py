"""A hand: a process without a database in which handlers of isolated pools are called, and its worker's side of it."""
