#include "report/glossary_private.h"

static const column_info_t columns[] = {
    {"term", "Term", COLUMN_TEXT, true, false, ""},
    {"meaning", "Meaning", COLUMN_TEXT, false, false, ""},
    {"source", "Source", COLUMN_TEXT, false, false,
     "Where the word comes from."},
};
enum { AT_TERM, AT_MEANING, AT_SOURCE, COLUMNS };

size_t glossary_count (void)
{
    return glossary_terms_count;
}

const glossary_term_t *glossary_at (size_t index)
{
    return &glossary_terms[index];
}

report_t *glossary_report (void)
{
    report_t *report = report_new ("definitions", "Definitions");

    report_columns (report, columns, COLUMNS);
    report_provenance (report, "program", "gpuledger");
    for (size_t i = 0; i < glossary_count (); i++) {
        const glossary_term_t *term = glossary_at (i);
        report_row (report);
        report_put_text (report, AT_TERM, term->term);
        report_put_text (report, AT_MEANING, term->meaning);
        report_put_text (report, AT_SOURCE, term->source);
    }
    return report;
}
