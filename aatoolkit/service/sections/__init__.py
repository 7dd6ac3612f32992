"""The 17 sections by topic; importing this package registers them all."""

from aatoolkit.service.sections import brands, commerce, site, sources, work

__all__ = ["brands", "commerce", "site", "sources", "work"]
