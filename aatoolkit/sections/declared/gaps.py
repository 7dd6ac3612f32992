"""Gaps: sources and topics for which AI engines name competitors, but not the own brand."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_GAP_KINDS = ("missing", "weak", "shared", "strong", "unique")

SECTION = Section(
    "gaps", "Citation gaps against competitors.",
    Table("gap_domains", "One row per source domain.", records("domainGaps"), key="source_domain", columns=(
        text("source_domain", "The source domain.", "domain"),
        category("domain_type", "Kind of site.", DOMAIN_TYPES),
        category("kind", "Own citations against the competitors' mean: from missing (none) to unique.", _GAP_KINDS),
        count("own_citations", "Citations of the domain in answers that mention the own brand."),
        integer("prompt_count", "Distinct prompts that cite the domain.", unit="distinct prompts",
            aggregate=NOT_ADDITIVE),
        score("opportunity_score", "How much the own brand can gain; higher is more.", aggregate=JUDGEMENT_RULE),
        words("engines", "The engines whose answers cite the domain."),
        text("example_url", "A page cited for competitors and not for the own brand."),
    )),
    Table("gap_domain_competitors", "One row per source domain and competitor.",
        keyed("domainGaps[].competitorCitations", key="brand"), key=("source_domain", "brand"), columns=(
        ref("source_domain", "The domain; refers to `gap_domains`.", "^domain"),
        text("brand", "The competitor."),
        count("citations", "Citations of the domain in answers that mention it; brands overlap.", ".",
            aggregate=Aggregation("sum", across=("engine", "source_domain"), why="one answer may mention several brands")),
    )),
    Table("gap_topics", "One row per topic.", records("topicGaps"), key="topic", columns=(
        text("topic", "The topic."),
        fraction("own_mention_rate", "Share of answers that mention the own brand.",
            aggregate=ratio("own_mention_count", "answer_count", otherwise="answer_count")),
        text("leader", "The brand mentioned most often, the own one included."),
        fraction("leader_mention_rate", "Share of answers that mention the leader.",
            aggregate=refused("each topic has its own leader", ("leader_mention_count", "answer_count"))),
        number("gap", "The own mention rate minus the leader's; 0 if the own brand leads.", unit=FRACTION_CHANGE,
            aggregate=refused("a difference of two rates, whose counts are beside it")),
        count("answer_count", "The topic's answers."),
        *mark_optional(
            count("own_mention_count", "Answers that mention the own brand."),
            count("leader_mention_count", "Answers that mention the topic's leader.",
                aggregate=refused("each topic has its own leader")),
        ),
    )),
    Table("gap_counts", "One row per kind of gap.", keyed("counts", key="kind"), key="kind", columns=(
        category("kind", "Own citations against the mean, as in `gap_domains`.", _GAP_KINDS),
        count("domain_count", "Source domains of the kind; engines share domains.", ".", across=("kind",)),
    )),
    kept=("ownBrand", "competitors"),
)
