/*
 * import_json.h: one job object of Slurm's JSON -> segment_t.
 */
#ifndef GL_IMPORT_JSON_H
#define GL_IMPORT_JSON_H

#include <jansson.h>

#include "import/import_private.h"

/* The job as sacct and slurmrestd's /slurmdb/ write it (`time`, `tres`), or as
 * slurmctld does (`job_state`, `start_time`). Texts are borrowed from `job`. */
int import_json_job (import_t *import, const json_t *job, gl_error_t *error);

/* A number as the data_parsers write it: plain, {"set","infinite","number"}, or
 * digits in a string (which import_json.c makes of integers that jansson would
 * refuse). False for none: not set, infinite, negative, or another type. */
bool json_number_of (const json_t *value, uint64_t *ret_number);

#endif /* !GL_IMPORT_JSON_H */
