/*
 * claims.h: files of published figures judged: do they follow from their inputs?
 *
 * docs/formats/claims.md is the form of a file. Inputs, expressions and printed
 * figures decide, nothing else: neither what a case or a figure is called, nor what a
 * file says of itself (kind, status, values).
 */
#ifndef GL_CLAIMS_H
#define GL_CLAIMS_H

#include "base/error.h"
#include "report/report.h"

/*
 * A row for each figure, in the order of the file, and one for a case without any.
 * "-": standard input. Numbers are read as they are written. NULL: no such file,
 * broken JSON, another form, an expression that cannot be evaluated; the error names
 * the file, and the case where there is one.
 */
report_t *claims_report (const char *path, gl_error_t *error);

#endif /* !GL_CLAIMS_H */
