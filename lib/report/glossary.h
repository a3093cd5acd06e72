/*
 * glossary.h: the words of reports and their meaning, as docs/glossary.md has them:
 * the build makes the table from that page. Texts are plain, without Markdown, and
 * live as long as the program.
 */
#ifndef GL_REPORT_GLOSSARY_H
#define GL_REPORT_GLOSSARY_H

#include "report/report.h"

typedef struct {
    const char *term;    /* "margin over cost"; no two differ by case alone */
    const char *meaning; /* one or more sentences */
    const char *source;  /* where the word comes from: "FinOps (FOCUS)" */
} glossary_term_t;

size_t glossary_count (void);
/* By term, upper and lower case alike. `index` is below glossary_count(). */
const glossary_term_t *glossary_at (size_t index);

/* The report `definitions`: a row for each term, in that order. Yours:
 * report_free(). */
report_t *glossary_report (void);

#endif /* !GL_REPORT_GLOSSARY_H */
