/*
 * fake_level_zero.h: what a fake libze_loader.so.1 answers. A test loads the
 * library with dlopen, takes the address of `fake_level_zero` and sets it; the
 * product loads the same file and sees the same. A result that is not 0 is
 * answered instead of a value.
 */
#ifndef GL_TESTS_SUPPORT_FAKE_LEVEL_ZERO_H
#define GL_TESTS_SUPPORT_FAKE_LEVEL_ZERO_H

#include <stdint.h>

#define FAKE_LZ_DEVICES 8
#define FAKE_LZ_PARTS 8

/* A component: of the entire device, or of a tile. */
typedef struct {
    int on_tile;
    uint32_t type; /* of an engine, a frequency, a memory's location */
    uint32_t result;
    uint64_t value, stamp; /* energy or activity, microseconds */
    uint64_t free, size;   /* bytes */
    double mhz;
    uint32_t throttle;
    int32_t limit; /* milliwatts */
} fake_part_t;

typedef struct {
    const char *name, *model, *driver;
    uint8_t uuid[16];
    uint32_t type, vendor, flags;
    uint32_t bus;
    uint32_t result; /* of all calls */
    int card_power;  /* the first domain is that of the card */
    uint32_t processes_result;
    uint32_t pids[8];
    uint32_t pid_count;
    fake_part_t power[FAKE_LZ_PARTS];
    fake_part_t engine[FAKE_LZ_PARTS];
    fake_part_t memory[FAKE_LZ_PARTS];
    fake_part_t frequency[FAKE_LZ_PARTS];
    uint32_t powers, engines, memories, frequencies;
} fake_lz_device_t;

typedef struct {
    uint32_t init_result;
    uint32_t drivers_result;
    uint32_t count;
    fake_lz_device_t device[FAKE_LZ_DEVICES];
    unsigned inits;
    unsigned wrong; /* calls with a struct of the wrong type */
} fake_level_zero_t;

#endif /* !GL_TESTS_SUPPORT_FAKE_LEVEL_ZERO_H */
