"""The part of algan that stands in here is memory_utils."""
