"""URLs: the pages that AI engines cite, with the prompts and the brands on these pages."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_PAGE_URL_COLUMN = ref("url", "The page; refers to `cited_urls`.")

SECTION = Section(
    "urls", "Source pages that engines cite.",
    Table("cited_urls", "One row per cited URL.", records("items"), key="url", columns=(
        text("url", "The page's address, as the engine gave it."),
        text("source_domain", "The domain of the page; refers to `source_domains`.", "domain"),
        text("title", "Title of the page, if the engine gave one."),
        category("page_type", "Kind of page.", ("homepage", "category", "product", "listicle", "comparison",
            "profile", "discussion", "how_to", "article", "alternative", "other")),
        category("domain_type", "Kind of site of the page.", DOMAIN_TYPES),
        count("citation_count", "Citations of the page."),
        fraction("citation_share", "Its share of all citations.",
            aggregate=CITATION_SHARE_RULE),
        count("retrieval_count", "Times an engine read the page, cited or not."),
        integer("answer_count", "Distinct answers that cite the page; pages overlap.", unit="distinct answers",
            aggregate=NOT_ADDITIVE),
        position("average_citation_position", "Mean position among the sources; lower is better.",
            aggregate=weighted("citation_count")),
        date("first_cited_on", "The first day with a citation, in or before the window.", aggregate=MIN),
        date("last_cited_on", "The last day with a citation.", aggregate=MAX),
        make_total_count("all_citation_count", "Citations of all pages: the sample size of the share.", "citations"),
    )),
    Table("cited_url_prompts", "One row per cited URL and prompt.", records("items[].prompts"),
        key=("url", "prompt_id"), columns=(
        _PAGE_URL_COLUMN,
        text("prompt_id", "The prompt; refers to `prompts`."),
        count("citation_count", "Citations of the page in answers to the prompt."),
    )),
    Table("cited_url_brands", "One row per cited URL and brand looked for on it.", records("items[].brands"),
        key=("url", "brand"), columns=(
        _PAGE_URL_COLUMN,
        text("brand", "The brand; brands without a row were not looked for."),
        flag("own", "Whether the brand is the project's own."),
        flag("mentioned", "Whether the page mentions the brand."),
    )),
    kept=("paging",),
)
