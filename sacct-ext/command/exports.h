/*
 * exports.h: what export and report chargeback write for other programs: files of a
 * form of their own, made of the whole bill of whole months, so that what adds up here
 * adds up there.
 */
#ifndef GL_EXPORTS_H
#define GL_EXPORTS_H

#include <stdbool.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "month/month.h"
#include "export/export.h"
#include "usage/query.h"

typedef struct export export_t;

/* What the command line says of it; zeros: nothing. */
typedef struct {
    const export_t *export; /* NULL: none is asked for */
    const char *version;    /* of FOCUS; NULL: the default */
    const char *dataset;    /* of FOCUS; NULL: the first */
} export_options_t;

/* Options, as a CLI_GROUP for an export_options_t. */
extern const cli_option_t export_options[];
/* "--journal" */
const char *export_name (const export_t *export);

/* The bills of the query's months, one by one, as the export. The query has no
 * filters. Returns an exit code; the reason has been told. */
int export_make (cli_t *cli, const export_options_t *options,
                 const report_query_t *query, const output_t *output);

/* One of them by its name, "--journal". */
int export_form (cli_t *cli, const char *name, const report_query_t *query,
                 const output_t *output);

/* The layout can be read, and has nothing that rows do not have. Returns an exit code;
 * the reason has been reported. */
int export_check_layout (cli_t *cli, const char *path);

/* Whose rows. */
typedef struct {
    bool given;       /* else those of all teams */
    const char *name; /* NULL: of no team */
} export_team_t;

/* The query's month, of which it has all, in the form of a layout. Returns an exit
 * code; the reason has been reported. */
int export_by_layout (cli_t *cli, const export_layout_t *layout,
                      const report_query_t *query, export_team_t team,
                      const output_t *output);

#endif /* !GL_EXPORTS_H */
