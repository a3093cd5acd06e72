/* inventory.c: any text as what slurmd prints about its devices, and, behind
 * the first empty line, as a job's list of devices. Whatever they say, a device
 * has one index, an index one device, and a list names devices that are there,
 * each once. */
#include <stdbool.h>

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "devices/gres_table.h"
#include "devices/mapping.h"
#include "devices/replay.h"

static const char node[]
    = "replay 1\n"
      "gpu g0 uuid=GPU-0a11 minor=0\n"
      "gpu g1 uuid=GPU-0b22 minor=1\n"
      "gpu g2 uuid=GPU-0c33 minor=2\n"
      "slice s0 uuid=MIG-aaaa gi=1 ci=0 gi_minor=30 ci_minor=31\n"
      "slice s1 uuid=MIG-abcd gi=2 ci=0 gi_minor=39 ci_minor=40\n"
      "slice s2 uuid=MIG-abff gi=2 ci=1 gi_minor=39 ci_minor=41\n";

static void scan_node (inventory_t *inventory)
{
    replay_t *replay = replay_parse (node, sizeof (node) - 1, "node", NULL);
    source_t *source;

    REQUIRE (replay);
    source = source_open_replay_parsed (replay, 0, NULL);
    REQUIRE (source && source->ops->scan (source, 0, inventory, NULL) == 0);
    source_close (source);
}

/* The devices of `node`, unmapped. */
static void copy_node (inventory_t *ret_inventory)
{
    static inventory_t once;

    if (once.count == 0)
        scan_node (&once);
    *ret_inventory = once;
    ret_inventory->device = malloc (once.count * sizeof (*once.device));
    REQUIRE (ret_inventory->device);
    memcpy (ret_inventory->device, once.device,
            once.count * sizeof (*once.device));
}

static void check_indices (const inventory_t *inventory)
{
    for (size_t i = 0; i < inventory->count; i++) {
        int64_t index = inventory->device[i].gres_index;

        REQUIRE (index >= 0 || index == DEVICE_UNKNOWN);
        REQUIRE (index == DEVICE_UNKNOWN || !inventory->device[i].problem[0]);
        for (size_t j = 0; j < i && index != DEVICE_UNKNOWN; j++)
            REQUIRE (inventory->device[j].gres_index != index);
    }
}

static void check_devices (const inventory_t *inventory, const size_t *devices,
                           size_t count)
{
    REQUIRE (count <= inventory->count);
    for (size_t i = 0; i < count; i++) {
        REQUIRE (devices[i] < inventory->count);
        for (size_t j = 0; j < i; j++)
            REQUIRE (devices[j] != devices[i]);
    }
}

static void find (const inventory_t *inventory, const char *list)
{
    gl_error_t error = {0};
    size_t devices[DEVICES_MAX], unknown = 0;
    size_t count
        = mapping_find_list (inventory, list, devices, &unknown, &error);

    check_devices (inventory, devices, count);
    REQUIRE (unknown == 0 || error.text[0]);
    count = mapping_find_job (inventory, list, list, devices, NULL, NULL);
    check_devices (inventory, devices, count);
    count = mapping_find_job (inventory, list, "", devices, NULL, NULL);
    check_devices (inventory, devices, count);
}

static void check_table (const gres_table_t *table)
{
    REQUIRE (table->count <= DEVICES_MAX);
    REQUIRE (table->count == 0 || !table->problem[0]);
    for (size_t i = 0; i < table->count; i++)
        REQUIRE (table->device[i].file_count <= GRES_FILES_MAX);
}

/* Where the list begins: behind the first empty line. */
static const char *list_of (char *text)
{
    char *empty = strstr (text, "\n\n");

    if (!empty)
        return "0,GPU-0,MIG-ab,1-2";
    empty[1] = '\0';
    return empty + 2;
}

static void use_table (const char *text, size_t size, const char *list)
{
    inventory_t inventory = {0};
    gres_table_t table = {0};
    gl_error_t error = {0};

    if (gres_table_parse (text, size, &table, &error) < 0) {
        REQUIRE (error.text[0] && table.count == 0);
        return;
    }
    check_table (&table);
    copy_node (&inventory);
    mapping_fill (&inventory, &table, NULL);
    check_indices (&inventory);
    find (&inventory, list);
    inventory_clear (&inventory);
    gres_table_clear (&table);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    unsigned char *bytes = fuzz_copy (data, size);
    char *text = calloc (size + 1, 1);
    const char *list;

    REQUIRE (text);
    memcpy (text, bytes, size);
    list = list_of (text);
    use_table (text, strlen (text), list);
    use_table ((char *)bytes, size, "0-511,/dev/nvidia1"); /* ends nowhere */
    free (text);
    free (bytes);
    return 0;
}
