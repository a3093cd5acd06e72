/*
 * amd_node ROOT make             a node with two MI300X below ROOT, as amdgpu shows
 *                                it in /sys: one whole (bus 10), one in CPX mode
 *                                (bus 20)
 * amd_node ROOT use BUS JOULES PERCENT
 *                                sets the energy counter and the activity of one
 *                                GPU (its partitions are as active)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/amd_tree.h"

#define GIB (UINT64_C (1) << 30)
#define WHOLE_BUS 0x10
#define CUT_BUS 0x20

static void use (const char *root, unsigned bus, uint64_t joules,
                 unsigned percent)
{
    amd_table_t table = {.format = 1,
                         .content = 7,
                         .energy = joules << 16,
                         .percent = (uint16_t)percent,
                         .watts = 300,
                         .mhz = 2100};
    char text[16];

    for (int i = 0; i < 8; i++)
        table.partition[i] = percent;
    amd_tree_table (root, bus, &table);
    snprintf (text, sizeof (text), "%u\n", percent);
    amd_tree_text (root, text,
                   "bus/pci/devices/0000:%02x:00.0/gpu_busy_percent", bus);
}

static void make (const char *root)
{
    amd_node_t node = {.node = 1,
                       .id = 100,
                       .unique = 0xa1,
                       .bus = WHOLE_BUS,
                       .device_id = 0x74a1,
                       .target = 90402,
                       .render = 128,
                       .dies = 8,
                       .memory = 192 * GIB};

    amd_tree_begin (root, 1);
    amd_tree_text (root, "6.10.5\n", "module/amdgpu/version");
    amd_tree_node (root, &node);
    amd_tree_card (root, &node, 0, 300000000, 20 * GIB, 192 * GIB);
    node.bus = CUT_BUS;
    node.unique = 0xb2;
    node.dies = 1;
    node.memory = 24 * GIB;
    for (unsigned i = 0; i < 8; i++) {
        node.node = 2 + i;
        node.id = 200 + i;
        node.partition = i;
        node.render = 129 + i;
        amd_tree_node (root, &node);
        if (i == 0)
            amd_tree_card (root, &node, 0, 400000000, 30 * GIB, 192 * GIB);
        else
            amd_tree_partition (root, &node);
    }
    amd_tree_text (root, "CPX\n",
                   "bus/pci/devices/0000:20:00.0/current_compute_partition");
    amd_tree_process (root, 4711, 100, GIB, true);
    amd_tree_process (root, 4712, 201, GIB, true);
    use (root, WHOLE_BUS, 1000, 0);
    use (root, CUT_BUS, 5000, 0);
}

int main (int argc, char **argv)
{
    if (argc == 3 && !strcmp (argv[2], "make"))
        make (argv[1]);
    else if (argc == 6 && !strcmp (argv[2], "use"))
        use (argv[1], (unsigned)strtoul (argv[3], NULL, 16),
             strtoull (argv[4], NULL, 10),
             (unsigned)strtoul (argv[5], NULL, 10));
    else
        return 2;
    return 0;
}
