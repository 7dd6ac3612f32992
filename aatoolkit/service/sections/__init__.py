"""The 17 sections (kinds of response) of the API, by topic."""

from aatoolkit.service.sections import brands, commerce, site, sources, work

__all__ = ["brands", "commerce", "site", "sources", "work"]
