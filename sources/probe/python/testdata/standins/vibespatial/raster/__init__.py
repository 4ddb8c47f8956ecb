"""The part of vibespatial.raster that stands in here is memory."""
