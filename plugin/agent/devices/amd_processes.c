/* amd_processes.c: which processes use which GPU, as the driver for compute work
 * (KFD) lists them: a directory for each process, in which vram_ID is the memory
 * that it has on a GPU, in bytes, and queues/N/gpuid the GPU of a queue. Work of
 * graphics alone is not there. */
#include <inttypes.h>

#include "amd_private.h"
#include "base/array.h"

#define PROCESSES_MAX 4096
#define QUEUES_MAX 1024

/* Memory of the process on the device; it has a file for each GPU that it may
 * use. */
static int64_t memory_of (const amd_t *amd, int64_t pid, int64_t id)
{
    int64_t bytes = sysfs_number (
        amd->sys, AMD_PROCESSES "/%" PRId64 "/vram_%" PRId64, pid, id);

    return bytes == DEVICE_UNKNOWN ? 0 : bytes;
}

/* The GPU of each of its queues. */
static int read_queues (const amd_t *amd, int64_t pid, int64_t *ret_ids)
{
    int count = sysfs_numbered (ret_ids, QUEUES_MAX, "", amd->sys,
                                AMD_PROCESSES "/%" PRId64 "/queues", pid);

    for (int i = 0; i < count; i++)
        ret_ids[i] = sysfs_number (
            amd->sys, AMD_PROCESSES "/%" PRId64 "/queues/%" PRId64 "/gpuid",
            pid, ret_ids[i]);
    return count;
}

static void take_process (const amd_t *amd, int64_t pid, int64_t *memory,
                          sample_t *samples)
{
    int64_t queues[QUEUES_MAX];
    int count = read_queues (amd, pid, queues);

    for (size_t i = 0; i < amd->inventory.count; i++) {
        int64_t id = amd->slot[i].id, bytes;
        if (!samples[i].present || id <= 0)
            continue;
        bytes = memory_of (amd, pid, id);
        if (__builtin_add_overflow (memory[i], bytes, &memory[i]))
            memory[i] = INT64_MAX;
        samples[i].processes
            += bytes > 0
               || GL_ANY (queues, count > 0 ? count : 0, it, *it == id);
    }
}

/* A GPU that is cut has no identifier of its own among processes: its partitions
 * have them. */
void amd_look_at_processes (const amd_t *amd, sample_t *samples)
{
    int64_t pids[PROCESSES_MAX], memory[DEVICES_MAX] = {0};
    int count
        = sysfs_numbered (pids, PROCESSES_MAX, "", amd->sys, AMD_PROCESSES);

    if (count < 0)
        return;
    for (size_t i = 0; i < amd->inventory.count; i++)
        if (samples[i].present && amd->slot[i].id > 0)
            samples[i].processes = 0;
    for (int p = 0; p < count; p++)
        take_process (amd, pids[p], memory, samples);
    for (size_t i = 0; i < amd->inventory.count; i++)
        if (samples[i].present && amd->inventory.device[i].slice)
            samples[i].memory_used = memory[i] >> 20;
}
