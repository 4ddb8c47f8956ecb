"""Stands in for algan, with its memory module alone."""
