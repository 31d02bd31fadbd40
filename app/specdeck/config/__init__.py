"""YAML into frozen, validated objects."""
