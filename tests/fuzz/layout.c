/* layout.c: inventory records in any order, with any contradiction. Every six
 * bytes are a record; a plain model says which snapshots are complete. Then the
 * same bytes as a segment of a spool, whose records go in as they are. */
#include <stdbool.h>

#include "fuzz/fuzz.h"
#include "fuzz/seal.h"
#include "record/layout.h"
#include "record/spool_read.h"

#define NODES 3
#define SNAPSHOTS 8
#define PARTS 5

static const char *const names[NODES] = {"", "g1", "g2"};

/* What a snapshot should be: `parts` -1 until its first record. */
typedef struct {
    int parts;
    bool there[PARTS + 1];
    int64_t index[PARTS + 1];
} model_t;

static model_t model[NODES][SNAPSHOTS];

static bool complete (const model_t *snapshot)
{
    for (int part = 1; part <= snapshot->parts; part++)
        if (!snapshot->there[part])
            return false;
    return snapshot->parts >= 0;
}

static void model_add (model_t *snapshot, int part, int parts, int64_t index)
{
    if (parts < 0 || (parts > 0 && (part < 1 || part > parts)))
        return;
    if (snapshot->parts < 0)
        snapshot->parts = parts;
    if (snapshot->parts != parts || parts == 0 || snapshot->there[part])
        return;
    snapshot->there[part] = true;
    snapshot->index[part] = index;
}

static void add_six (layout_t *layout, const uint8_t *bytes)
{
    record_t record = {.version = RECORD_VERSION, .kind = RECORD_INVENTORY};
    int node = bytes[0] % NODES, snapshot = bytes[1] % SNAPSHOTS;
    int part = (int8_t)bytes[2], parts = (int8_t)bytes[3] % (PARTS + 1);
    int64_t index = bytes[4] % 4 ? bytes[4] % 4 : LAYOUT_UNKNOWN;

    record_set_text (&record, RECORD_FIELD_cluster, "lab");
    record_set_text (&record, RECORD_FIELD_node, names[node]);
    record_set_number (&record, RECORD_FIELD_snapshot, snapshot);
    record_set_number (&record, RECORD_FIELD_part, part);
    record_set_number (&record, RECORD_FIELD_parts, parts);
    if (index != LAYOUT_UNKNOWN)
        record_set_number (&record, RECORD_FIELD_gres_index, index);
    REQUIRE (layout_add (layout, &record, NULL) == 0);
    model_add (&model[node][snapshot], part, parts, index);
}

static void check_snapshot (layout_t *layout, int node, int snapshot)
{
    const model_t *wanted = &model[node][snapshot];
    layout_snapshot_t shown;
    int next = snapshot + 1;

    REQUIRE (layout_at (layout, "lab", names[node], snapshot, &shown));
    REQUIRE (shown.snapshot == snapshot);
    REQUIRE (shown.count == (size_t)wanted->parts);
    for (int part = 1; part <= wanted->parts; part++)
        REQUIRE (shown.device[part - 1].gres_index == wanted->index[part]);
    for (int64_t index = 0; index < 4; index++) {
        const layout_device_t *device = layout_device (&shown, index);
        REQUIRE (!device || device->gres_index == index);
    }
    while (next < SNAPSHOTS && !complete (&model[node][next]))
        next++;
    REQUIRE (layout_until (layout, &shown)
             == (next < SNAPSHOTS ? next : INT64_MAX));
}

static void check_model (layout_t *layout)
{
    layout_snapshot_t shown;
    size_t cursor = 0, count = 0, wanted = 0;
    bool any;

    for (int node = 0; node < NODES; node++) {
        any = false;
        for (int snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
            any |= complete (&model[node][snapshot]);
            REQUIRE (layout_at (layout, "lab", names[node], snapshot, &shown)
                     == any);
            if (!complete (&model[node][snapshot]))
                continue;
            check_snapshot (layout, node, snapshot);
            wanted++;
        }
    }
    while (layout_next (layout, &cursor, &shown))
        count++;
    REQUIRE (count == wanted);
}

static void run_model (const uint8_t *data, size_t size)
{
    layout_t *layout = layout_open ();

    REQUIRE (layout);
    memset (model, 0, sizeof (model));
    for (int node = 0; node < NODES; node++)
        for (int snapshot = 0; snapshot < SNAPSHOTS; snapshot++)
            model[node][snapshot].parts = -1;
    for (size_t at = 0; at + 6 <= size; at += 6)
        add_six (layout, data + at);
    check_model (layout);
    layout_close (layout);
}

static int take (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    return entry->understood ? layout_add (arg, &entry->record, error) : 0;
}

static void run_segment (unsigned char *bytes, size_t size)
{
    layout_t *layout = layout_open ();
    layout_snapshot_t shown, same;
    size_t cursor = 0;

    REQUIRE (layout);
    seal_records (bytes, size);
    REQUIRE (spool_read_buffer (bytes, size, take, layout, NULL, NULL) == 0);
    while (layout_next (layout, &cursor, &shown)) {
        REQUIRE (shown.count <= LAYOUT_DEVICES_MAX);
        REQUIRE (layout_at (layout, shown.cluster, shown.node, shown.snapshot,
                            &same));
        REQUIRE (same.device == shown.device && same.count == shown.count);
        REQUIRE (layout_until (layout, &shown) > shown.snapshot
                 || shown.snapshot == INT64_MAX);
    }
    layout_close (layout);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    unsigned char *bytes = fuzz_copy (data, size);

    run_model (bytes, size);
    run_segment (bytes, size);
    free (bytes);
    return 0;
}
