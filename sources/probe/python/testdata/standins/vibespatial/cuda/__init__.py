"""The part of vibespatial.cuda that stands in here is _runtime."""
