#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "devices.h"
#include "record/record.h"

/* Between a node's clock and the controller's: first as if they agreed, then
 * as far apart as slurmd itself accepts (cred_expire). */
static const int64_t tolerances[] = {1, 120};

/* What one node showed. */
struct shown {
    char *node;
    char **device; /* in Slurm's order of numbers */
    size_t count;
    record_devices_t worth;
};

struct list {
    struct shown *node;
    size_t count;
};

/* From little to all, so that the better one wins. */
static int rank (record_devices_t worth)
{
    static const int ranks[] = {
        [RECORD_DEVICES_UNKNOWN] = 0,
        [RECORD_DEVICES_LAST_TYPE] = 1,
        [RECORD_DEVICES_LOWER_BOUND] = 2,
        [RECORD_DEVICES_COMPLETE] = 3,
    };

    return (size_t)worth < GL_ARRAY_SIZE (ranks) ? ranks[worth] : 0;
}

static struct shown *node_get (struct list *list, const char *name)
{
    struct shown *shown;

    for (size_t i = 0; i < list->count; i++)
        if (!strcmp (list->node[i].node, name))
            return &list->node[i];
    list->node
        = xreallocarray (list->node, list->count + 1, sizeof (*list->node));
    shown = &list->node[list->count++];
    *shown = (struct shown){.node = xstrdup (name)};
    return shown;
}

/* Indices by value, and they before UUIDs of equal length. */
static int compare_devices (const char *a, const char *b)
{
    size_t x = strlen (a), y = strlen (b);

    return x != y ? (x > y) - (x < y) : strcmp (a, b);
}

static void add_device (struct shown *shown, const char *text, size_t length)
{
    char *device = xstrndup (text, length);
    size_t at = 0;

    while (at < shown->count && compare_devices (shown->device[at], device) < 0)
        at++;
    if (at < shown->count && !strcmp (shown->device[at], device)) {
        free (device);
        return;
    }
    shown->device = xreallocarray (shown->device, shown->count + 1,
                                   sizeof (*shown->device));
    memmove (shown->device + at + 1, shown->device + at,
             (shown->count - at) * sizeof (*shown->device));
    shown->device[at] = device;
    shown->count++;
}

static void add_record (struct list *list, const record_t *record)
{
    struct shown *shown = node_get (list, record->node);
    const char *text = record->gpus;

    while (*text) {
        size_t length = strcspn (text, ",");
        if (length > 0)
            add_device (shown, text, length);
        text += length + (text[length] == ',');
    }
    if (rank (record->devices) > rank (shown->worth))
        shown->worth = record->devices;
}

static int read_records (store_t *store, const segment_t *s, int64_t tolerance,
                         struct list *list, gl_error_t *error)
{
    store_query_t query = {.cluster = s->cluster, .id_job = s->id_job};
    store_record_iter_t *iter = store_record_iter_open (store, &query, error);
    node_record_t stored;
    record_t record;
    int more = -1;

    while (iter && (more = store_record_iter_next (iter, &stored, error)) > 0) {
        if (stored.stamp >= s->time_start - tolerance
            && stored.stamp <= segment_end (s) + tolerance
            && record_decode (stored.payload, stored.payload_length, &record,
                              NULL)
                   == 0
            && record_has (&record, node) && record_has (&record, gpus))
            add_record (list, &record);
    }
    store_record_iter_close (iter);
    return more;
}

static const char *worth_text (record_devices_t worth)
{
    switch (worth) {
    case RECORD_DEVICES_COMPLETE:
        return "all of the job's on this node";
    case RECORD_DEVICES_LOWER_BOUND:
        return "those of its steps: it has at least these";
    case RECORD_DEVICES_LAST_TYPE:
        return "all, unless the node has several GPU types: the prolog sees "
               "the last one";
    case RECORD_DEVICES_UNKNOWN:
        break;
    }
    return "not known to be all";
}

static int by_node (const void *a, const void *b)
{
    return strcmp (((const struct shown *)a)->node,
                   ((const struct shown *)b)->node);
}

static explain_devices_t *hand_out (struct list *list)
{
    explain_devices_t *devices = xcalloc (list->count, sizeof (*devices));

    if (list->count > 1)
        qsort (list->node, list->count, sizeof (*list->node), by_node);
    for (size_t i = 0; i < list->count; i++) {
        struct shown *shown = &list->node[i];
        buffer_t text = BUFFER_INIT;
        for (size_t k = 0; k < shown->count; k++) {
            buffer_printf (&text, "%s%s", k ? "," : "", shown->device[k]);
            free (shown->device[k]);
        }
        free (shown->device);
        devices[i] = (explain_devices_t){shown->node, buffer_take (&text),
                                         worth_text (shown->worth)};
    }
    free (list->node);
    return devices;
}

int devices_of_segment (store_t *store, const segment_t *segment,
                        explain_devices_t **ret_devices, size_t *ret_count,
                        gl_error_t *error)
{
    struct list list = {0};
    int rc = 0;

    for (size_t i = 0;
         i < GL_ARRAY_SIZE (tolerances) && list.count == 0 && rc == 0; i++)
        rc = read_records (store, segment, tolerances[i], &list, error);
    *ret_count = list.count;
    *ret_devices = hand_out (&list);
    if (rc < 0) {
        devices_free (*ret_devices, *ret_count);
        *ret_devices = NULL;
        *ret_count = 0;
    }
    return rc;
}

void devices_free (explain_devices_t *devices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free (devices[i].node);
        free (devices[i].gpus);
    }
    free (devices);
}
