"""State into styled rows of text: pure functions, no textual."""
