/*
 * exports.h: what report chargeback writes for other programs: files of a form of
 * their own, made of the whole bill of whole months, so that what adds up here
 * adds up there.
 */
#ifndef GL_EXPORTS_H
#define GL_EXPORTS_H

#include <stdbool.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "month/month.h"
#include "usage/query.h"

enum {
    EXPORT_JOURNAL = CLI_LONG + 700,
    EXPORT_OPENCOST,
    EXPORT_FOCUS,
    EXPORT_DATASET,
};

/* Rows of a verb's option table. */
#define EXPORT_OPTIONS                                                  \
    {EXPORT_JOURNAL, "journal", NULL,                                   \
     "chargeback of full months as a double-entry journal for\n"        \
     "ledger and hledger"},                                             \
        {EXPORT_OPENCOST, "opencost", NULL,                             \
         "chargeback of full months in the shape of OpenCost's\n"       \
         "allocations (JSON)"},                                         \
        {EXPORT_FOCUS, "focus", "[=VERSION]",                           \
         "chargeback of full months as FOCUS billing data by job\n"     \
         "and day: 1.2 (default), 1.3 or 1.4"},                         \
    {                                                                   \
        EXPORT_DATASET, "focus-dataset", "NAME",                        \
            "with --focus: cost-and-usage (default), invoice-detail,\n" \
            "billing-period, contract-commitment or owner-cost"         \
    }

typedef struct export export_t;

/* What the command line says of it; zeros: nothing. */
typedef struct {
    const export_t *export; /* NULL: none is asked for */
    const char *version;    /* of FOCUS; NULL: the default */
    const char *dataset;    /* of FOCUS; NULL: the first */
} export_options_t;

/* 1: it was one of ours; 0: it was not; -1: wrong use, already told. */
int export_option (cli_t *cli, void *into, int option, const char *value);
/* "--journal" */
const char *export_name (const export_t *export);

/* The bills of the query's months, one by one, as the export. The query has no
 * filters. Returns an exit code; the reason has been told. */
int export_make (cli_t *cli, const export_options_t *options,
                 const report_query_t *query, const output_t *output);

#endif /* !GL_EXPORTS_H */
