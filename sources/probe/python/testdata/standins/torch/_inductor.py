"""Stands in for torch's compiler, which takes seconds to load."""
