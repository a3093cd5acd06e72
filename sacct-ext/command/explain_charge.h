/* explain_charge.h: gpuledger explain SOURCE:REFERENCE: a charge of another service. */
#ifndef GL_EXPLAIN_CHARGE_H
#define GL_EXPLAIN_CHARGE_H

#include "cli/cli.h"
#include "cli/output.h"
#include "report/explain.h"

/* An exit code. */
int explain_charge (cli_t *cli, const char *name, const output_t *output);

/* In verb_explain.c. */
int write_explanation (cli_t *cli, const output_t *output,
                       const explain_t *explain);

#endif /* !GL_EXPLAIN_CHARGE_H */
