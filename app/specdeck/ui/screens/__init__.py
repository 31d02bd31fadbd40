"""Full screens and sheets."""
