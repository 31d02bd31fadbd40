"""The dashboard: draws the newest state and turns keys into commands; no input or output of its own."""
