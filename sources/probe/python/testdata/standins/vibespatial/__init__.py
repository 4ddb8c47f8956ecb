"""Stands in for vibespatial: the pool of its raster package and the runtime of the main one."""
