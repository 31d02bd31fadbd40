"""asyncio tasks: store, monitors, launcher; no textual."""
