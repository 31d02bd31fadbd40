"""One file a verb; each is imported only when its verb is asked for, and imports what is heavy inside its functions."""
