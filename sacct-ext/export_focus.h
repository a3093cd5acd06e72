/* export_focus.h: the months of a query as FOCUS billing data (render/focus.h). */
#ifndef GL_EXPORT_FOCUS_H
#define GL_EXPORT_FOCUS_H

#include "cli.h"
#include "output.h"
#include "report/query.h"

/* `version`: "1.2"; NULL: the default. Row by row. Returns an exit code; the
 * reason has been told. */
int export_focus (cli_t *cli, const report_query_t *query, const char *version,
                  output_stream_t *out);

#endif /* !GL_EXPORT_FOCUS_H */
