#include <config.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"

#include "node.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_LENGTH 36

static void fill_row (record_t *record, const node_row_t *row,
                      const char *value)
{
    int64_t number;

    if (!row->number)
        record_set_text (record, row->field, value);
    else if (number_i64_text (value, &number) == 0)
        record_set_number (record, row->field, number);
}

void node_fill (record_t *record, spank_t sp, node_lookup_f lookup,
                const node_row_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value;
        if (record_has_field (record, rows[i].field))
            continue;
        if ((value = lookup (sp, rows[i].variable)))
            fill_row (record, &rows[i], value);
    }
}

/* slurmd names the node to all its children; a host may run several. */
static void describe_name (record_t *record)
{
    char host[256] = "";
    const char *name = getenv ("SLURMD_NODENAME");

    if (!name && gethostname (host, sizeof (host) - 1) == 0) {
        host[strcspn (host, ".")] = '\0';
        name = host;
    }
    record_set_text (record, RECORD_FIELD_node, name);
}

/* Tells a reboot, after which counters begin anew, from a restart of slurmd. */
static void describe_boot (record_t *record)
{
    char id[BOOT_ID_LENGTH + 1] = "";
    int fd = open (BOOT_ID, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (read (fd, id, BOOT_ID_LENGTH) == BOOT_ID_LENGTH)
        record_set_text (record, RECORD_FIELD_boot_id, id);
    close (fd);
}

void node_describe (record_t *record, spank_t sp)
{
    char *version = NULL;

    describe_name (record);
    describe_boot (record);
    record_set_text (record, RECORD_FIELD_plugin_version, PACKAGE_VERSION);
    if (spank_get_item (sp, S_SLURM_VERSION, &version) == ESPANK_SUCCESS)
        record_set_text (record, RECORD_FIELD_slurm_version, version);
}
