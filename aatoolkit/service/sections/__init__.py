"""The 17 sections (kinds of response) of the API, by topic.

- ``brands``: overview, ranking, perception, prompts and chats
- ``sources``: domains, urls, gaps and fanouts
- ``commerce``: ads, shopping and conversions
- ``site``: crawl and crawlability
- ``work``: actions, impact and insights
"""

from aatoolkit.service.sections import brands, commerce, site, sources, work

__all__ = ["brands", "commerce", "site", "sources", "work"]
