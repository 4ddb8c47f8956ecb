"""Stands in for algan: it asks its daemon first, and has modules of its own."""
from algan.daemon_client import maybe_handoff

maybe_handoff()

import algan.utils  # noqa: E402, F401
