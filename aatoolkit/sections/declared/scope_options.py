"""Scope options: the values that the filters of a project can take."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
SECTION = Section(
    "scope_options", "The values that the filters of a project take.",
    Table("scope_engines", "One row per engine.", records("engines"), key="engine", columns=(
        text("engine", "The engine's id, as the engine filter takes it.", "id"),
        text("label", "Name of the engine for people."),
        flag("configured", "Whether the engine is switched on in the project."),
        date("last_run_day", "The last day the engine ran; missing if it never ran.", aggregate=LAST),
    )),
    Table("scope_topics", "One row per topic; prompts without a topic are counted under (none).", records("topics"),
        key="topic", columns=(
        text("topic", "The topic; (none) if a prompt has none.", null="(none)"),
        count("prompt_count", "Prompts of the topic.", "count"),
    )),
    Table("scope_categories", "One row per category; prompts without a category are counted under (none).",
        records("categories"), key="category", columns=(
        text("category", "The category; (none) if a prompt has none.", null="(none)"),
        count("prompt_count", "Prompts of the category.", "count"),
    )),
    Table("scope_brands", "One row per brand.", records("brands"), key="brand", columns=(
        text("brand", "The brand's name, as the brand filter takes it.", "name"),
        flag("tracked", "Whether the project tracks the brand."),
        flag("own", "Whether the brand is the project's own; missing if not known.", optional=True),
    )),
    kept=("days", "ownTerms"),
)
