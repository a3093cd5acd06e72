/* amd_scan.c: which AMD GPUs the node has, and how they are cut. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amd_private.h"
#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

#define NODES_MAX 1024
#define LINKS_MAX 256
#define BANKS_MAX 64
#define PROPERTIES_SIZE 4096
#define VENDOR_AMD 0x1002
#define LINK_XGMI 11
/* heap_type of memory on the GPU: public, private. */
#define HEAP_PUBLIC 1
#define HEAP_PRIVATE 2

/* ------------------------------------------------------------------- properties */

/* The number after a name; each line of a file of properties is "name number".
 * Numbers are unsigned and may need all 64 bits. */
static bool property (const char *text, const char *name, uint64_t *ret)
{
    size_t length = strlen (name);

    for (const char *line = text; line; line = strchr (line, '\n')) {
        line += *line == '\n';
        if (!strncmp (line, name, length) && line[length] == ' ')
            return number_u64 (line + length + 1,
                               strcspn (line + length + 1, "\n"), ret)
                   == 0;
    }
    return false;
}

static int64_t small_property (const char *text, const char *name)
{
    uint64_t number;

    return property (text, name, &number) && number <= INT64_MAX
               ? (int64_t)number
               : DEVICE_UNKNOWN;
}

/* --------------------------------------------------------- nodes of the topology */

/* A GPU, or a partition of one, as the topology has it. */
typedef struct {
    int64_t number;
    int64_t id; /* gpu_id */
    int64_t device_id;
    int64_t target;
    int64_t minor;
    int64_t partition;
    int64_t dies; /* num_xcc */
    uint64_t unique_id;
    char pci[32]; /* "0000:c1:00.0" */
} node_t;

typedef struct {
    amd_t *amd;
    node_t node[NODES_MAX];
    size_t node_count;
    int hidden; /* GPUs whose properties the device cgroup hides */
    char driver[64];
    inventory_t inventory;
    amd_slot_t *slot;
    amd_card_t *card;
    size_t card_count;
} scan_t;

/* location_id has bus and function in 16 bits, and the partition in the last
 * four. */
static void place_node (node_t *node, const char *text)
{
    int64_t location = small_property (text, "location_id");
    int64_t domain = small_property (text, "domain");

    if (location == DEVICE_UNKNOWN)
        return;
    node->partition = location >> 28 & 0xf;
    snprintf (node->pci, sizeof (node->pci), "%04x:%02x:%02x.%x",
              domain == DEVICE_UNKNOWN ? 0 : (unsigned)domain,
              (unsigned)(location >> 8 & 0xff),
              (unsigned)(location >> 3 & 0x1f), (unsigned)(location & 7));
}

/* 1: an AMD GPU; 0: another device, or a GPU whose files this process cannot see. */
static int read_node (scan_t *scan, int64_t number, node_t *ret)
{
    char text[PROPERTIES_SIZE];
    node_t node = {.number = number};

    node.id = sysfs_number (scan->amd->sys,
                            AMD_TOPOLOGY "/nodes/%" PRId64 "/gpu_id", number);
    if (node.id == 0)
        return 0; /* a processor */
    if (sysfs_bytes (text, sizeof (text), scan->amd->sys,
                     AMD_TOPOLOGY "/nodes/%" PRId64 "/properties", number)
        <= 0) {
        scan->hidden++;
        return 0;
    }
    if (node.id < 0 || small_property (text, "simd_count") <= 0
        || small_property (text, "vendor_id") != VENDOR_AMD)
        return 0;
    node.device_id = small_property (text, "device_id");
    node.target = small_property (text, "gfx_target_version");
    node.minor = small_property (text, "drm_render_minor");
    node.dies = small_property (text, "num_xcc");
    property (text, "unique_id", &node.unique_id);
    place_node (&node, text);
    *ret = node;
    return *node.pci != '\0';
}

static int by_place (const void *a, const void *b)
{
    const node_t *x = a, *y = b;
    int order = strcmp (x->pci, y->pci);

    if (order == 0)
        order = (x->partition > y->partition) - (x->partition < y->partition);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int read_nodes (scan_t *scan, gl_error_t *error)
{
    int64_t numbers[NODES_MAX];
    int count = sysfs_numbered (numbers, NODES_MAX, "", scan->amd->sys,
                                AMD_TOPOLOGY "/nodes");

    if (count < 0)
        return gl_error (
            error, "no amdgpu driver: %s/" AMD_TOPOLOGY "/nodes does not exist",
            scan->amd->sys);
    for (int i = 0; i < count; i++)
        scan->node_count += (size_t)read_node (scan, numbers[i],
                                               &scan->node[scan->node_count]);
    if (scan->node_count > 1)
        qsort (scan->node, scan->node_count, sizeof (*scan->node), by_place);
    if (scan->node_count == 0 && scan->hidden)
        return gl_error (error,
                         "amdgpu hides %d GPUs: allow the device files "
                         "/dev/dri/renderD* to the agent (DeviceAllow=char-drm "
                         "rw in its unit)",
                         scan->hidden);
    return 0;
}

/* ------------------------------------------------------------------------ names */

/* PCI device numbers of AMD's compute GPUs, for drivers that give no name. */
static const struct {
    int64_t id;
    const char *name;
} names[] = {
    {0x738c, "AMD Instinct MI100"},  {0x738e, "AMD Instinct MI100"},
    {0x7408, "AMD Instinct MI250X"}, {0x740c, "AMD Instinct MI250X"},
    {0x740f, "AMD Instinct MI210"},  {0x7410, "AMD Instinct MI210"},
    {0x74a0, "AMD Instinct MI300A"}, {0x74a1, "AMD Instinct MI300X"},
    {0x74a2, "AMD Instinct MI308X"}, {0x74a5, "AMD Instinct MI325X"},
    {0x74a9, "AMD Instinct MI300X"}, {0x74b5, "AMD Instinct MI300X"},
    {0x75a0, "AMD Instinct MI350X"}, {0x75a3, "AMD Instinct MI355X"},
};

static void name_model (const scan_t *scan, const node_t *node,
                        const char *path, device_t *device)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++)
        if (names[i].id == node->device_id) {
            snprintf (device->model, sizeof (device->model), "%s",
                      names[i].name);
            return;
        }
    if (sysfs_text (device->model, sizeof (device->model), scan->amd->sys,
                    "%s/product_name", path))
        return;
    snprintf (device->model, sizeof (device->model), "AMD GPU %04" PRIx64,
              node->device_id < 0 ? 0 : node->device_id);
}

/* As ROCR_VISIBLE_DEVICES has it: "GPU-" and 16 hexadecimal digits. A partition
 * may have a number of its own in the topology: the card's comes first. GPUs
 * without any are named by their place. */
static void name_uuid (const scan_t *scan, const amd_card_t *card,
                       const node_t *node, device_t *device)
{
    char text[32];

    if (sysfs_text (text, sizeof (text), scan->amd->sys, "%s/unique_id",
                    card->path)
        && strlen (text) == 16 && strspn (text, "0123456789abcdef") == 16
        && strspn (text, "0") < 16)
        snprintf (device->uuid, sizeof (device->uuid), "GPU-%s", text);
    else if (node->unique_id)
        snprintf (device->uuid, sizeof (device->uuid), "GPU-%016" PRIx64,
                  node->unique_id);
    else
        snprintf (device->uuid, sizeof (device->uuid), "GPU-%s", node->pci);
}

/* ------------------------------------------------------------------------- GPUs */

static void find_hwmon (const scan_t *scan, amd_card_t *card)
{
    int64_t number, limit;

    card->limit = DEVICE_UNKNOWN;
    if (sysfs_numbered (&number, 1, "hwmon", scan->amd->sys, "%s/hwmon",
                        card->path)
        != 1)
        return;
    snprintf (card->hwmon, sizeof (card->hwmon), "%s/hwmon/hwmon%" PRId64,
              card->path, number);
    limit = sysfs_number (scan->amd->sys, "%s/power1_cap", card->hwmon);
    if (limit > 0)
        card->limit = limit / 1000;
}

static void describe_gpu (const scan_t *scan, const amd_card_t *card,
                          const node_t *node, device_t *device)
{
    int64_t bytes
        = sysfs_number (scan->amd->sys, "%s/mem_info_vram_total", card->path);

    strcpy (device->source, "amdgpu");
    memcpy (device->driver, scan->driver, sizeof (device->driver));
    name_uuid (scan, card, node, device);
    name_model (scan, node, card->path, device);
    memcpy (device->pci, node->pci, sizeof (device->pci));
    sysfs_device_files (device, scan->amd->sys, card->path);
    device->partitioned = 0;
    if (bytes >= 0)
        device->memory_total = bytes >> 20;
    device->power_limit = card->limit;
}

/* ------------------------------------------------------------------- partitions */

/* Bytes of the memory on the GPU that belong to a node of the topology. */
static int64_t memory_of (const scan_t *scan, const node_t *node)
{
    int64_t banks[BANKS_MAX], sum = 0;
    int count = sysfs_numbered (banks, BANKS_MAX, "", scan->amd->sys,
                                AMD_TOPOLOGY "/nodes/%" PRId64 "/mem_banks",
                                node->number);

    for (int i = 0; i < count; i++) {
        char text[PROPERTIES_SIZE];
        int64_t size, heap;

        sysfs_bytes (text, sizeof (text), scan->amd->sys,
                     AMD_TOPOLOGY "/nodes/%" PRId64 "/mem_banks/%" PRId64
                                  "/properties",
                     node->number, banks[i]);
        heap = small_property (text, "heap_type");
        size = small_property (text, "size_in_bytes");
        if ((heap == HEAP_PUBLIC || heap == HEAP_PRIVATE)
            && (size < 0 || __builtin_add_overflow (sum, size, &sum)))
            return DEVICE_UNKNOWN;
    }
    return count > 0 ? sum : DEVICE_UNKNOWN;
}

/* "cpx" from CPX. */
static void read_profile (const scan_t *scan, const char *path,
                          device_t *device)
{
    sysfs_text (device->profile, sizeof (device->profile), scan->amd->sys,
                "%s/current_compute_partition", path);
    for (char *c = device->profile; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c += 'a' - 'A';
}

static void describe_partition (const scan_t *scan, const amd_card_t *card,
                                const node_t *node, const device_t *gpu,
                                device_t *device)
{
    int64_t bytes = memory_of (scan, node);
    char path[64];

    device->slice = true;
    device_inherit (device, gpu);
    device->minor = node->minor;
    snprintf (path, sizeof (path), "class/drm/renderD%" PRId64 "/device",
              node->minor);
    sysfs_device_files (device, scan->amd->sys, path);
    read_profile (scan, card->path, device);
    device->compute_slices = node->dies;
    device->memory_total = bytes < 0 ? DEVICE_UNKNOWN : bytes >> 20;
    snprintf (device->uuid, sizeof (device->uuid), "%.80s/%" PRId64, gpu->uuid,
              node->partition);
}

/* ---------------------------------------------------------------- the inventory */

static device_t *add_device (scan_t *scan, const node_t *node, size_t card)
{
    device_t *device = inventory_add (&scan->inventory);

    if (!device)
        return NULL;
    scan->slot = xreallocarray (scan->slot, scan->inventory.count,
                                sizeof (*scan->slot));
    scan->slot[scan->inventory.count - 1]
        = (amd_slot_t){card, node ? node->id : 0, node ? node->partition : 0};
    return device;
}

/* The files of a GPU that is cut are those of its first partition. */
static void give_files_up (device_t *gpu)
{
    gpu->minor = DEVICE_UNKNOWN;
    gpu->file[0] = gpu->card[0] = '\0';
}

static void add_partitions (scan_t *scan, const node_t *node, size_t count,
                            size_t card)
{
    size_t gpu = scan->card[card].device;

    for (size_t i = 0; i < count; i++) {
        device_t *device = add_device (scan, &node[i], card);
        if (!device)
            return;
        device->gpu = gpu;
        describe_partition (scan, &scan->card[card], &node[i],
                            &scan->inventory.device[gpu], device);
    }
    give_files_up (&scan->inventory.device[gpu]);
    for (size_t i = gpu; i < scan->inventory.count; i++)
        scan->inventory.device[i].partitioned = 1;
}

/* `count` nodes of one place: a GPU, or its partitions. */
static void add_card (scan_t *scan, const node_t *node, size_t count)
{
    amd_card_t card = {.target = node->target,
                       .node = node->number,
                       .device = scan->inventory.count};
    device_t *device;

    snprintf (card.path, sizeof (card.path), "bus/pci/devices/%s", node->pci);
    find_hwmon (scan, &card);
    amd_card_look (scan->amd, &card);
    /* graphics inside a processor, which Slurm gives to no job */
    if (card.metrics.format > 1)
        return;
    device = add_device (scan, count > 1 ? NULL : node, scan->card_count);
    if (!device)
        return;
    device->gpu = card.device;
    describe_gpu (scan, &card, node, device);
    card.counter = scan->card_count;
    *GL_APPEND (scan->card, scan->card_count) = card;
    if (count > 1)
        add_partitions (scan, node, count, scan->card_count - 1);
}

static void add_cards (scan_t *scan)
{
    for (size_t i = 0, next; i < scan->node_count; i = next) {
        for (next = i + 1; next < scan->node_count
                           && !strcmp (scan->node[next].pci, scan->node[i].pci);
             next++)
            ;
        add_card (scan, &scan->node[i], next - i);
    }
}

/* --------------------------------------------------------- two dies, one package */

/* The node to which the most links go, if it is one alone. A package's dies are
 * joined by more links than dies of different packages. */
static int64_t closest (const scan_t *scan, int64_t number)
{
    int64_t links[LINKS_MAX], found = DEVICE_UNKNOWN, most = 0;
    int count
        = sysfs_numbered (links, LINKS_MAX, "", scan->amd->sys,
                          AMD_TOPOLOGY "/nodes/%" PRId64 "/io_links", number);

    for (int i = 0; i < count; i++) {
        char text[PROPERTIES_SIZE];
        int64_t width;

        sysfs_bytes (text, sizeof (text), scan->amd->sys,
                     AMD_TOPOLOGY "/nodes/%" PRId64 "/io_links/%" PRId64
                                  "/properties",
                     number, links[i]);
        width = small_property (text, "max_bandwidth");
        if (small_property (text, "type") != LINK_XGMI || width < most)
            continue;
        found
            = width > most ? small_property (text, "node_to") : DEVICE_UNKNOWN;
        most = width;
    }
    return found;
}

static amd_card_t *card_of_node (const scan_t *scan, int64_t number)
{
    return GL_FIND (scan->card, scan->card_count, it, it->node == number);
}

/* It has a table, and in it no energy at all. */
static bool counts_nothing (const amd_card_t *card)
{
    return card->target == AMD_GFX90A && card->metrics.format
           && card->metrics.energy == 0;
}

/* The die that counts for both; NULL if nobody can tell. */
static amd_card_t *counter_of (const scan_t *scan, const amd_card_t *card)
{
    amd_card_t *other = card_of_node (scan, closest (scan, card->node));

    return other && other->metrics.energy > 0
                   && closest (scan, other->node) == card->node
               ? other
               : NULL;
}

/* On an MI250 one die of each package counts the energy of both, and the other
 * says 0. If the second die of a package is not known, then no counter of
 * the node is known to be that of one die. */
static void pair_dies (scan_t *scan)
{
    bool unknown = false;

    for (size_t i = 0; i < scan->card_count; i++) {
        amd_card_t *card = &scan->card[i], *counter;
        if (!counts_nothing (card))
            continue;
        counter = counter_of (scan, card);
        unknown |= !counter;
        if (!counter)
            continue;
        card->counter = counter->counter;
        card->paired = counter->paired = true;
    }
    for (size_t i = 0; unknown && i < scan->card_count; i++)
        if (scan->card[i].target == AMD_GFX90A)
            scan->card[i].counter = AMD_NONE;
}

/* The limit of a package is for both dies. */
static void share_limits (scan_t *scan)
{
    for (size_t i = 0; i < scan->card_count; i++) {
        const amd_card_t *card = &scan->card[i];
        int64_t limit;

        if (!card->paired || card->counter == AMD_NONE)
            continue;
        limit = scan->card[card->counter].limit;
        scan->inventory.device[card->device].power_limit
            = limit == DEVICE_UNKNOWN ? limit : limit / 2;
    }
}

/* ------------------------------------------------------------------------- scan */

/* The version of the module, where it is not the kernel's own. */
static void read_driver (scan_t *scan)
{
    char text[48];

    if (sysfs_text (text, sizeof (text), scan->amd->sys,
                    "module/amdgpu/version"))
        snprintf (scan->driver, sizeof (scan->driver), "%s", text);
    else if (sysfs_text (text, sizeof (text), scan->amd->proc,
                         "sys/kernel/osrelease"))
        snprintf (scan->driver, sizeof (scan->driver), "Linux %s", text);
}

void amd_forget (amd_t *amd)
{
    inventory_clear (&amd->inventory);
    free (amd->slot);
    free (amd->card);
    amd->slot = NULL;
    amd->card = NULL;
    amd->card_count = 0;
}

static void keep_lost (scan_t *scan)
{
    size_t lost = inventory_keep_lost (&scan->inventory, &scan->amd->inventory);

    scan->slot = xreallocarray (scan->slot, scan->inventory.count + 1,
                                sizeof (*scan->slot));
    for (size_t i = scan->inventory.count - lost; i < scan->inventory.count;
         i++)
        scan->slot[i] = (amd_slot_t){.card = AMD_NONE};
}

static void finish (scan_t *scan, int64_t now, inventory_t *ret_inventory)
{
    amd_t *amd = scan->amd;

    amd_forget (amd);
    amd->inventory = scan->inventory;
    amd->slot = scan->slot;
    amd->card = scan->card;
    amd->card_count = scan->card_count;
    amd->scanned = now;
    inventory_clear (ret_inventory);
    *ret_inventory = inventory_copy (&amd->inventory);
}

int amd_scan (source_t *source, int64_t now, inventory_t *ret_inventory,
              gl_error_t *error)
{
    amd_t *amd = (amd_t *)source;
    scan_t *scan = xcalloc (1, sizeof (*scan));
    int rc;

    scan->amd = amd;
    amd->generation = sysfs_number (amd->sys, AMD_TOPOLOGY "/generation_id");
    rc = read_nodes (scan, error);
    if (rc == 0) {
        read_driver (scan);
        add_cards (scan);
        pair_dies (scan);
        share_limits (scan);
        keep_lost (scan);
        finish (scan, now, ret_inventory);
    }
    free (scan);
    return rc;
}
