/* level_zero_private.h: the source of Intel GPUs, shared by scanning and
 * sampling. */
#ifndef GL_AGENT_LEVEL_ZERO_PRIVATE_H
#define GL_AGENT_LEVEL_ZERO_PRIVATE_H

#include <stdbool.h>

#include "level_zero.h"
#include "source.h"
#include "sysfs.h"

#define LZ_MEMBER(member, arguments, name) lz_result_t (*member) arguments;
typedef struct {
    LZ_FUNCTIONS (LZ_MEMBER)
} lz_functions_t;

/* Components of one kind that make up a device: one that speaks of all of it, or
 * one for each of its tiles. */
#define LZ_PARTS_MAX 16

typedef struct {
    lz_device_t handle;
    bool lost;
    lz_power_t power[LZ_PARTS_MAX];
    lz_engine_t engine[LZ_PARTS_MAX];
    lz_memory_t memory[LZ_PARTS_MAX];
    lz_frequency_t frequency[LZ_PARTS_MAX];
    size_t powers, engines, memories, frequencies;
    /* the last reading, from which means are formed; known: it is one */
    lz_energy_t energy[LZ_PARTS_MAX];
    lz_activity_t activity[LZ_PARTS_MAX];
    bool energy_known;
    bool activity_known;
} lz_slot_t;

typedef struct {
    source_t source;
    void *library;
    lz_functions_t call; /* members that the library lacks are NULL */
    char sys[256];
    inventory_t inventory; /* result of the last scan */
    lz_slot_t *slot;       /* of each of its devices */
    int64_t scanned;
} lz_t;

/* The function is there and succeeds. */
#define LZ_DID(lz, function, ...) \
    ((lz)->call.function && (lz)->call.function (__VA_ARGS__) == LZ_SUCCESS)

/* The handles that `function` lists for a parent, up to the size of the array
 * `handles`: how many. */
#define LZ_LIST(lz, function, parent, handles)                      \
    ({                                                              \
        uint32_t count_ = sizeof (handles) / sizeof ((handles)[0]); \
        if (!LZ_DID (lz, function, parent, &count_, handles))       \
            count_ = 0;                                             \
        count_ < sizeof (handles) / sizeof ((handles)[0])           \
            ? count_                                                \
            : (uint32_t)(sizeof (handles) / sizeof ((handles)[0])); \
    })

int lz_scan (source_t *source, int64_t now, inventory_t *ret_inventory,
             gl_error_t *error);
void lz_forget (lz_t *lz);

#endif /* !GL_AGENT_LEVEL_ZERO_PRIVATE_H */
