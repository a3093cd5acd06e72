/*
 * write_spool DIR CLUSTER FIRST COUNT: append job-start records, with ids, users
 * and tags made from their number, as the plugin would on node g001.
 */
#include <stdio.h>
#include <stdlib.h>

#include "record/spool.h"

int main (int argc, char **argv)
{
    gl_error_t error = {""};
    record_t r;

    if (argc != 5)
        return 2;
    for (int i = 0; i < atoi (argv[4]); i++) {
        if (record_begin (&r, RECORD_JOB_START, &error) < 0) {
            fprintf (stderr, "%s\n", error.text);
            return 1;
        }
        record_set_text (&r, RECORD_FIELD_cluster, argv[2]);
        record_set_text (&r, RECORD_FIELD_node, "g001");
        record_set_number (&r, RECORD_FIELD_job_id, atoi (argv[3]) + i);
        record_set_number (&r, RECORD_FIELD_uid, 1000);
        record_set_text (&r, RECORD_FIELD_project, i % 2 ? "beta" : "alpha");
        record_set_number (&r, RECORD_FIELD_project_source,
                           RECORD_SOURCE_OPTION);
        record_set_text (&r, RECORD_FIELD_gpus, "0,1");
        if (spool_append (argv[1], &r, &error) < 0) {
            fprintf (stderr, "%s\n", error.text);
            return 1;
        }
    }
    return 0;
}
