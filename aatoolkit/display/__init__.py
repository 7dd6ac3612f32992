"""Everything that is shown to users: pictures, HTML reports and notebook widgets.

- ``plot/`` draws a DataFrame as a picture, with matplotlib or plotly (``df.aa.plot``).
- ``report/`` writes a `Dataset` as one page of HTML (``dataset.report``).
- ``widgets/`` has pickers, i.e. Jupyter widgets to choose filters and sections.
"""
