"""Pickers, widgets to choose filters and sections in a notebook; see ``picker``."""
