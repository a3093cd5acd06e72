#include "support/amd_tree.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOPOLOGY "class/kfd/kfd/topology"
#define PCI "bus/pci/devices/0000:%02x:00.0"

static void die (const char *path)
{
    perror (path);
    exit (2);
}

static void make_directories (char *path)
{
    for (char *slash = path + 1; (slash = strchr (slash, '/')); slash++) {
        *slash = '\0';
        mkdir (path, 0755);
        *slash = '/';
    }
}

__attribute__ ((format (printf, 4, 0))) static void
put (const char *root, const void *bytes, size_t size, const char *fmt,
     va_list args)
{
    char path[512];
    int length = snprintf (path, sizeof (path), "%s/", root);
    FILE *file;

    vsnprintf (path + length, sizeof (path) - (size_t)length, fmt, args);
    make_directories (path);
    file = fopen (path, "w");
    if (!file || fwrite (bytes, 1, size, file) != size || fclose (file))
        die (path);
}

void amd_tree_text (const char *root, const char *text, const char *fmt, ...)
{
    va_list args;

    va_start (args, fmt);
    put (root, text, strlen (text), fmt, args);
    va_end (args);
}

void amd_tree_bytes (const char *root, const void *bytes, size_t size,
                     const char *fmt, ...)
{
    va_list args;

    va_start (args, fmt);
    put (root, bytes, size, fmt, args);
    va_end (args);
}

void amd_tree_remove (const char *root, const char *fmt, ...)
{
    char path[400], command[512];
    va_list args;

    va_start (args, fmt);
    vsnprintf (path, sizeof (path), fmt, args);
    va_end (args);
    snprintf (command, sizeof (command), "rm -r '%s/%s'", root, path);
    if (system (command) != 0)
        die (path);
}

static void put_number (const char *root, uint64_t number, const char *fmt, ...)
    __attribute__ ((format (printf, 3, 4)));
static void put_number (const char *root, uint64_t number, const char *fmt, ...)
{
    char text[32];
    va_list args;

    snprintf (text, sizeof (text), "%" PRIu64 "\n", number);
    va_start (args, fmt);
    put (root, text, strlen (text), fmt, args);
    va_end (args);
}

/* -------------------------------------------------------------------- topology */

void amd_tree_begin (const char *root, unsigned generation)
{
    put_number (root, generation, TOPOLOGY "/generation_id");
    put_number (root, 0, TOPOLOGY "/nodes/0/gpu_id");
    amd_tree_text (root, "cpu_cores_count 64\nsimd_count 0\nvendor_id 0\n",
                   TOPOLOGY "/nodes/0/properties");
}

void amd_tree_node (const char *root, const amd_node_t *n)
{
    char text[1024];

    put_number (root, n->id, TOPOLOGY "/nodes/%u/gpu_id", n->node);
    snprintf (text, sizeof (text),
              "cpu_cores_count 0\nsimd_count 304\nmem_banks_count 1\n"
              "gfx_target_version %u\nvendor_id 4098\ndevice_id %u\n"
              "location_id %u\ndomain 0\ndrm_render_minor %u\n"
              "hive_id 0\nunique_id %" PRIu64 "\nnum_xcc %u\n",
              n->target, n->device_id, n->bus << 8 | n->partition << 28,
              n->render, n->unique, n->dies);
    amd_tree_text (root, text, TOPOLOGY "/nodes/%u/properties", n->node);
    snprintf (text, sizeof (text),
              "heap_type 1\nsize_in_bytes %" PRIu64 "\nflags 0\n", n->memory);
    amd_tree_text (root, text, TOPOLOGY "/nodes/%u/mem_banks/0/properties",
                   n->node);
}

void amd_tree_link (const char *root, unsigned from, unsigned to,
                    unsigned bandwidth)
{
    char text[256];

    snprintf (text, sizeof (text),
              "type 11\nversion_major 0\nnode_from %u\nnode_to %u\nweight 13\n"
              "min_bandwidth 50000\nmax_bandwidth %u\n",
              from, to, bandwidth);
    amd_tree_text (root, text, TOPOLOGY "/nodes/%u/io_links/%u/properties",
                   from, to);
}

/* ----------------------------------------------------------------------- cards */

void amd_tree_card (const char *root, const amd_node_t *n, unsigned percent,
                    uint64_t microwatts, uint64_t used, uint64_t total)
{
    char text[32];

    snprintf (text, sizeof (text), "%016" PRIx64 "\n", n->unique);
    amd_tree_text (root, text, PCI "/unique_id", n->bus);
    put_number (root, percent, PCI "/gpu_busy_percent", n->bus);
    put_number (root, used, PCI "/mem_info_vram_used", n->bus);
    put_number (root, total, PCI "/mem_info_vram_total", n->bus);
    put_number (root, microwatts, PCI "/hwmon/hwmon%u/power1_input", n->bus,
                n->bus);
    put_number (root, 750000000, PCI "/hwmon/hwmon%u/power1_cap", n->bus,
                n->bus);
    amd_tree_text (root, "SPX\n", PCI "/current_compute_partition", n->bus);
    amd_tree_text (root, "", PCI "/drm/card%u/dev", n->bus, n->render - 128);
    amd_tree_text (root, "", PCI "/drm/renderD%u/dev", n->bus, n->render);
    amd_tree_partition (root, n); /* the kernel has links here */
}

void amd_tree_partition (const char *root, const amd_node_t *n)
{
    amd_tree_text (root, "", "class/drm/renderD%u/device/drm/card%u/dev",
                   n->render, n->render - 128);
    amd_tree_text (root, "", "class/drm/renderD%u/device/drm/renderD%u/dev",
                   n->render, n->render);
}

void amd_tree_process (const char *root, unsigned pid, unsigned id,
                       uint64_t bytes, bool queue)
{
    put_number (root, bytes, "class/kfd/kfd/proc/%u/vram_%u", pid, id);
    put_number (root, 0, "class/kfd/kfd/proc/%u/pasid", pid);
    if (queue)
        put_number (root, id, "class/kfd/kfd/proc/%u/queues/%u/gpuid", pid,
                    id % 100);
}

/* ---------------------------------------------------------------------- tables */

struct header {
    uint16_t size;
    uint8_t format, content;
};

/* 1.1 is the beginning of 1.2, and that of 1.3. */
struct v1_3 {
    struct header header;
    uint16_t temperature[6];
    uint16_t gfx_activity, umc_activity, mm_activity;
    uint16_t socket_power;
    uint64_t energy, system_clock;
    uint16_t average_clock[7], current_clock[7];
    uint32_t throttle_status;
    uint16_t fan, pcie_width, pcie_speed, padding;
    uint32_t gfx_acc, mem_acc;
    uint16_t hbm[4];
    uint64_t firmware_time;
    uint16_t voltage[3], padding1;
    uint64_t independent_throttle;
};

struct v1_4 {
    struct header header;
    uint16_t temperature[3];
    uint16_t power, gfx_activity, umc_activity, vcn_activity[4];
    uint64_t energy, system_clock;
    uint32_t throttle_status, lock;
    uint16_t link[4];
    uint32_t acc[2];
    uint64_t pcie[5], read[8], write[8], firmware_time;
    uint16_t gfxclk[8], socclk[4], vclk[4], dclk[4], uclk, padding;
};

struct v1_5 {
    struct header header;
    uint16_t temperature[3];
    uint16_t power, gfx_activity, umc_activity, vcn_activity[4];
    uint16_t jpeg_activity[32];
    uint64_t energy, system_clock;
    uint32_t throttle_status, lock;
    uint16_t link[4];
    uint32_t acc[2];
    uint64_t pcie[5];
    uint32_t nak[2];
    uint64_t read[8], write[8], firmware_time;
    uint16_t gfxclk[8], socclk[4], vclk[4], dclk[4], uclk, padding;
};

struct v1_6 {
    struct header header;
    uint16_t temperature[3];
    uint16_t power, gfx_activity, umc_activity;
    uint64_t energy, system_clock;
    uint32_t accumulation, residency[5], lock;
    uint16_t link[4];
    uint32_t acc[2];
    uint64_t pcie[5];
    uint32_t nak[2];
    uint64_t read[8], write[8], firmware_time;
    uint16_t gfxclk[8], socclk[4], vclk[4], dclk[4], uclk, partitions;
    struct {
        uint32_t gfx_busy[8];
        uint16_t jpeg_busy[32], vcn_busy[4];
        uint64_t gfx_acc[8];
    } partition[8];
    uint32_t recovery;
};

/* 1.7 has one counter for each die after gfx_acc, 1.8 four, and more JPEG. */
#define V1_7(name, jpeg, counters)                                         \
    struct name {                                                          \
        struct header header;                                              \
        uint16_t temperature[3];                                           \
        uint16_t power, gfx_activity, umc_activity;                        \
        uint64_t bandwidth, energy, system_clock;                          \
        uint32_t accumulation, residency[5], lock;                         \
        uint16_t link[4];                                                  \
        uint32_t acc[2];                                                   \
        uint64_t pcie[5];                                                  \
        uint32_t nak[2];                                                   \
        uint64_t read[8], write[8];                                        \
        uint16_t link_status[8], padding;                                  \
        uint64_t firmware_time;                                            \
        uint16_t gfxclk[8], socclk[4], vclk[4], dclk[4], uclk, partitions; \
        struct {                                                           \
            uint32_t gfx_busy[8];                                          \
            uint16_t jpeg_busy[jpeg], vcn_busy[4];                         \
            uint64_t gfx_acc[8], below[counters][8];                       \
        } partition[8];                                                    \
        uint32_t recovery;                                                 \
    }
V1_7 (v1_7, 32, 1);
V1_7 (v1_8, 40, 4);

#define COMMON(t, from)                                                      \
    do {                                                                     \
        memset (&(t), 0xff, sizeof (t));                                     \
        (t).header                                                           \
            = (struct header){(uint16_t)sizeof (t), (uint8_t)(from)->format, \
                              (uint8_t)(from)->content};                     \
        (t).energy = (from)->energy;                                         \
        (t).gfx_activity = (from)->percent;                                  \
    } while (0)

/* A die of eight is off. */
#define CLOCKS(t, from)                   \
    do {                                  \
        for (int i_ = 0; i_ < 7; i_++)    \
            (t).gfxclk[i_] = (from)->mhz; \
        (t).power = (from)->watts;        \
    } while (0)

/* A partition is of one die: the others are not there. */
#define PARTITIONS(t, from)                                                \
    do {                                                                   \
        memcpy ((t).residency, (from)->residency, sizeof ((t).residency)); \
        for (int i_ = 0; i_ < 8; i_++)                                     \
            (t).partition[i_].gfx_busy[0] = (from)->partition[i_];         \
    } while (0)

static size_t old_bytes (const amd_table_t *from, void *ret)
{
    static const size_t sizes[] = {0, 96, 104, sizeof (struct v1_3)};
    struct v1_3 t;

    COMMON (t, from);
    t.header.size = (uint16_t)sizes[from->content];
    t.socket_power = from->watts;
    t.current_clock[0] = from->mhz;
    t.independent_throttle = from->throttle;
    memcpy (ret, &t, sizes[from->content]);
    return sizes[from->content];
}

#define WHOLE(type, from, ret, ...)   \
    ({                                \
        struct type t;                \
        COMMON (t, from);             \
        CLOCKS (t, from);             \
        __VA_ARGS__;                  \
        memcpy (ret, &t, sizeof (t)); \
        sizeof (t);                   \
    })

/* --- 1.9: attributes ---------------------------------------------------- */

static size_t put_attribute (unsigned char *at, unsigned unit, unsigned type,
                             unsigned id, unsigned count, const void *values)
{
    uint64_t encoding = (uint64_t)unit << 24 | (uint64_t)type << 20
                        | (uint64_t)id << 10 | count;
    size_t size = ((size_t)1 << type / 2) * count;

    memcpy (at, &encoding, sizeof (encoding));
    memcpy (at + sizeof (encoding), values, size);
    return sizeof (encoding) + size;
}

static size_t attribute_bytes (const amd_table_t *from, unsigned char *ret)
{
    uint16_t clocks[8];
    uint16_t temperature = 40;
    int32_t count = 5 + 5;
    size_t at = 8;

    for (int i = 0; i < 8; i++)
        clocks[i] = i < 7 ? from->mhz : 0xffff;
    at += put_attribute (ret + at, 2, 2, 0, 1, &temperature);
    at += put_attribute (ret + at, 3, 2, 3, 1, &from->watts);
    at += put_attribute (ret + at, 10, 2, 4, 1, &from->percent);
    at += put_attribute (ret + at, 0, 6, 7, 1, &from->energy);
    for (unsigned i = 0; i < 5; i++)
        at += put_attribute (ret + at, 0, 4, 10 + i, 1, &from->residency[i]);
    at += put_attribute (ret + at, 1, 2, 33, 8, clocks);
    memcpy (ret, &(struct header){(uint16_t)at, 1, 9}, 4);
    memcpy (ret + 4, &count, sizeof (count));
    return at;
}

size_t amd_table_bytes (const amd_table_t *from, void *ret)
{
    if (from->format != 1) {
        struct v1_4 t;
        COMMON (t, from);
        memcpy (ret, &t, sizeof (t));
        return sizeof (t);
    }
    switch (from->content) {
    case 4:
        return WHOLE (v1_4, from, ret,
                      t.throttle_status = (uint32_t)from->throttle);
    case 5:
        return WHOLE (v1_5, from, ret,
                      t.throttle_status = (uint32_t)from->throttle);
    case 6:
        return WHOLE (v1_6, from, ret, PARTITIONS (t, from));
    case 7:
        return WHOLE (v1_7, from, ret, PARTITIONS (t, from));
    case 8:
        return WHOLE (v1_8, from, ret, PARTITIONS (t, from));
    case 9:
        return attribute_bytes (from, ret);
    default:
        return old_bytes (from, ret);
    }
}

void amd_tree_table (const char *root, unsigned bus, const amd_table_t *table)
{
    unsigned char bytes[8192];

    amd_tree_bytes (root, bytes, amd_table_bytes (table, bytes),
                    PCI "/gpu_metrics", bus);
}
