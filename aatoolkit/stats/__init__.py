"""Statistics on frames: is it real?

In come frames of counts, rates and means; out go frames whose rows say how sure a number is, with
``n``, the number of prompts, the method in words and a verdict. What was not measured gives
"cannot say" and the cause, never "no change". Reached through ``df.aa``. In reading order:

================= =====================================================================
``distributions`` Student's t, without SciPy
``cluster_sums``  numerators and denominators by group and cluster, of what was measured
``estimate``      rates and means over clusters: variance, design effect, interval
``results``       frames of results with code book, availability and sources
``interval``      ``df.aa.interval``: how sure a rate or mean is
``difference``    the change between two samples: paired, of two samples, of answers
``adjust``        p-values that are adjusted because there are many
``compare``       ``df.aa.compare``: whether two frames differ
``headline``      ``Dataset.compare``: what changed between two datasets
``decompose``     ``df.aa.decompose``: into rates, mix, and what entered or left
``stability``     ``df.aa.stability`` and ``aa.samples``: repeats, and how many it takes
``changes``       ``df.aa.changes``: the days on which a rate changed
``panel``         changes within prompts: differences in differences, trends
``effect``        ``aa.effect``: whether an action worked
``rank``          ``df.aa.rank``: each rank with the set of ranks that it may have
``concentration`` ``df.aa.concentration``: how few members have most
``similarity``    the Jaccard index and rank-biased overlap of pairs of answers
``overlap``       ``df.aa.overlap``: how much two engines have in common
``page_path``     paths of pages in one spelling
``funnel``        ``Dataset.funnel``: from crawled to converted
``answers``       ``aa.answers`` and ``aa.cited_and_mentioned``: one row an answer
================= =====================================================================

Two questions look alike and have different answers. How do *these prompts* fare? Then the prompts
are all there is, and only the answers to each are a sample (``panel="fixed"``). How do *prompts
like these* fare? Then prompts are a sample too, and as answers to one prompt resemble each other, a
hundred answers to five prompts say little more than five answers (``panel="sampled"``). An interval
that takes all answers for independent promises 95 % and covers 30 to 70 %.
"""
