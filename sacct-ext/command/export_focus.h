/* export_focus.h: the months of a query as FOCUS billing data (render/focus.h). */
#ifndef GL_EXPORT_FOCUS_H
#define GL_EXPORT_FOCUS_H

#include "cli/cli.h"
#include "cli/output.h"
#include "command/exports.h"
#include "usage/query.h"

/* The dataset that the options name, in their version; NULL: the first one, in the
 * first version that has it. Row by row. Returns an exit code; the reason has been
 * told. */
int export_focus (cli_t *cli, const report_query_t *query,
                  const export_options_t *options, output_stream_t *out);

#endif /* !GL_EXPORT_FOCUS_H */
