/* Prints slurmd's list of devices:
 *
 *     print_table run PROGRAM SLURM_CONF NODE
 *     print_table follow FILE NODE
 *
 * as lines "INDEX TYPE FILE...", or "problem TEXT". */
#include <stdio.h>
#include <string.h>

#include "devices/gres_table.h"

static void print (const gres_table_t *table)
{
    if (*table->problem)
        printf ("problem %s\n", table->problem);
    for (size_t i = 0; i < table->count; i++) {
        const gres_device_t *device = &table->device[i];

        printf ("%zu %s", i, *device->type ? device->type : "-");
        for (size_t f = 0; f < device->file_count; f++)
            printf (" %s", device->file[f]);
        putchar ('\n');
    }
}

int main (int argc, char **argv)
{
    gres_table_t table = {0};
    slurmd_t slurmd = {0};
    gl_error_t error = {""};
    int result = -1;

    if (argc == 5 && !strcmp (argv[1], "run")) {
        snprintf (slurmd.program, sizeof (slurmd.program), "%s", argv[2]);
        snprintf (slurmd.conf, sizeof (slurmd.conf), "%s", argv[3]);
        snprintf (slurmd.node, sizeof (slurmd.node), "%s", argv[4]);
        result
            = gres_table_run (&slurmd, GRES_TABLE_TIMEOUT_MS, &table, &error);
    } else if (argc == 4 && !strcmp (argv[1], "follow")) {
        result = gres_table_follow (argv[2], argv[3], &slurmd, &table, &error);
    }
    if (result < 0)
        fprintf (stderr, "print_table: %s\n", error.text);
    print (&table);
    gres_table_clear (&table);
    return result < 0;
}
