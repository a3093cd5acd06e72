/*
 * level_zero.h: declarations of the part of Level Zero's system management
 * (Sysman) that the agent calls.
 *
 * Written from the public oneAPI Level Zero specification (spec.oneapi.io,
 * "Sysman", versions 1.5 and later); names, numbers and layouts are those of the
 * ABI of libze_loader.so.1. A test compares them with the headers of libze-dev
 * where those are installed. No Intel header is needed to build, and no library
 * to run: level_zero.c looks the functions up one by one.
 */
#ifndef GL_AGENT_LEVEL_ZERO_H
#define GL_AGENT_LEVEL_ZERO_H

#include <stdint.h>

/* Results; there are more, and all of them mean "no value". */
enum {
    LZ_SUCCESS = 0,
    LZ_ERROR_DEVICE_LOST = 0x70000001,
    LZ_ERROR_DEVICE_REQUIRES_RESET = 0x70000006,
    LZ_ERROR_INSUFFICIENT_PERMISSIONS = 0x70010000,
    LZ_ERROR_NOT_AVAILABLE = 0x70010001,
    LZ_ERROR_DEPENDENCY_UNAVAILABLE = 0x70020000,
    LZ_ERROR_UNINITIALIZED = 0x78000001,
    LZ_ERROR_UNSUPPORTED_FEATURE = 0x78000003,
    LZ_ERROR_INVALID_SIZE = 0x78000008,
};
typedef uint32_t lz_result_t;
typedef uint8_t lz_bool_t;

typedef struct lz_driver_st *lz_driver_t;
typedef struct lz_device_st *lz_device_t;
typedef struct lz_power_st *lz_power_t;
typedef struct lz_engine_st *lz_engine_t;
typedef struct lz_memory_st *lz_memory_t;
typedef struct lz_frequency_st *lz_frequency_t;

/* What a struct is: its first member. The core's numbers and Sysman's are two
 * sequences. */
enum {
    LZ_TYPE_CORE_DEVICE_PROPERTIES = 0x3,
    LZ_TYPE_DEVICE_PROPERTIES = 0x1,
    LZ_TYPE_PCI_PROPERTIES = 0x2,
    LZ_TYPE_ENGINE_PROPERTIES = 0x5,
    LZ_TYPE_FREQUENCY_PROPERTIES = 0x9,
    LZ_TYPE_MEMORY_PROPERTIES = 0xb,
    LZ_TYPE_POWER_PROPERTIES = 0xd,
    LZ_TYPE_PROCESS_STATE = 0x16,
    LZ_TYPE_FREQUENCY_STATE = 0x1b,
    LZ_TYPE_MEMORY_STATE = 0x1e,
};

enum {
    LZ_DEVICE_GPU = 1,
    LZ_DEVICE_INTEGRATED = 1, /* flag: part of a processor */
    LZ_ENGINE_ALL = 0,
    LZ_ENGINE_COMPUTE = 1,         /* all compute engines */
    LZ_ENGINE_RENDER_COMPUTE = 11, /* these, and all that render */
    LZ_MEMORY_ON_DEVICE = 1,
    LZ_FREQUENCY_GPU = 0,
    /* bits: why a frequency is low */
    LZ_THROTTLE_POWER = 0x1 | 0x2 | 0x4, /* average, burst, current */
    LZ_THROTTLE_THERMAL = 0x8,
    LZ_THROTTLE_SUPPLY = 0x10,   /* the power supply */
    LZ_THROTTLE_SETTINGS = 0x20, /* a range that software has set */
    LZ_THROTTLE_HARDWARE = 0x40, /* a range of a block of the chip */
    LZ_TEXT_SIZE = 64,
    LZ_NAME_SIZE = 256,
};

/* ze_device_properties_t */
typedef struct {
    uint32_t type_of_struct;
    void *next;
    uint32_t type;
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t flags;
    uint32_t subdevice_id;
    uint32_t clock;
    uint64_t max_alloc;
    uint32_t unused[7];
    uint64_t timer_resolution;
    uint32_t timestamp_bits[2];
    uint8_t uuid[16];
    char name[LZ_NAME_SIZE];
} lz_core_t;

/* zes_device_properties_t */
typedef struct {
    uint32_t type_of_struct;
    void *next;
    lz_core_t core;
    uint32_t subdevices;
    char serial[LZ_TEXT_SIZE];
    char board[LZ_TEXT_SIZE];
    char brand[LZ_TEXT_SIZE];
    char model[LZ_TEXT_SIZE];
    char vendor[LZ_TEXT_SIZE];
    char driver[LZ_TEXT_SIZE];
} lz_properties_t;

typedef struct {
    uint32_t type_of_struct;
    void *next;
    uint32_t domain;
    uint32_t bus;
    uint32_t device;
    uint32_t function;
    struct {
        int32_t generation;
        int32_t width;
        int64_t bandwidth;
    } speed;
    lz_bool_t counters[3];
} lz_pci_t;

typedef struct {
    uint32_t type_of_struct;
    void *next;
    lz_bool_t on_subdevice;
    uint32_t subdevice_id;
    lz_bool_t can_control;
    lz_bool_t threshold;
    int32_t default_limit; /* milliwatts; -1: unknown */
    int32_t min_limit;
    int32_t max_limit;
} lz_power_properties_t;

typedef struct {
    uint64_t energy;    /* microjoules */
    uint64_t timestamp; /* microseconds */
} lz_energy_t;

typedef struct {
    lz_bool_t enabled;
    int32_t power; /* milliwatts */
    int32_t interval;
} lz_sustained_limit_t;

typedef struct {
    uint32_t type_of_struct;
    void *next;
    uint32_t type;
    lz_bool_t on_subdevice;
    uint32_t subdevice_id;
} lz_engine_properties_t;

typedef struct {
    uint64_t active;    /* microseconds */
    uint64_t timestamp; /* microseconds */
} lz_activity_t;

typedef struct {
    uint32_t type_of_struct;
    void *next;
    uint32_t type;
    lz_bool_t on_subdevice;
    uint32_t subdevice_id;
    uint32_t location;
    uint64_t size;
    int32_t bus_width;
    int32_t channels;
} lz_memory_properties_t;

typedef struct {
    uint32_t type_of_struct;
    const void *next;
    uint32_t health;
    uint64_t free; /* bytes */
    uint64_t size;
} lz_memory_state_t;

typedef struct {
    uint32_t type_of_struct;
    void *next;
    uint32_t type;
    lz_bool_t on_subdevice;
    uint32_t subdevice_id;
    lz_bool_t can_control;
    lz_bool_t throttle_event;
    double min;
    double max;
} lz_frequency_properties_t;

typedef struct {
    uint32_t type_of_struct;
    const void *next;
    double voltage;
    double request;
    double tdp;
    double efficient;
    double actual; /* MHz; negative: unknown */
    uint32_t throttle;
} lz_frequency_state_t;

typedef struct {
    uint32_t type_of_struct;
    const void *next;
    uint32_t pid;
    uint64_t memory;
    uint64_t shared;
    uint32_t engines;
} lz_process_t;

_Static_assert(sizeof (lz_core_t) == 368, "ze_device_properties_t");
_Static_assert(sizeof (lz_properties_t) == 776, "zes_device_properties_t");
_Static_assert(sizeof (lz_pci_t) == 56, "zes_pci_properties_t");
_Static_assert(sizeof (lz_power_properties_t) == 40, "zes_power_properties_t");
_Static_assert(sizeof (lz_memory_properties_t) == 48, "zes_mem_properties_t");
_Static_assert(sizeof (lz_frequency_state_t) == 64, "zes_freq_state_t");
_Static_assert(sizeof (lz_process_t) == 48, "zes_process_state_t");

/*
 * The only table of functions: member, arguments, name. All of a kind of
 * component are enumerated alike: with a count of 0 the call tells how many.
 */
#define LZ_FUNCTIONS(F)                                                        \
    F (init, (uint32_t), "zesInit")                                            \
    F (drivers, (uint32_t *, lz_driver_t *), "zesDriverGet")                   \
    F (devices, (lz_driver_t, uint32_t *, lz_device_t *), "zesDeviceGet")      \
    F (properties, (lz_device_t, lz_properties_t *), "zesDeviceGetProperties") \
    F (pci, (lz_device_t, lz_pci_t *), "zesDevicePciGetProperties")            \
    F (processes, (lz_device_t, uint32_t *, lz_process_t *),                   \
       "zesDeviceProcessesGetState")                                           \
    F (powers, (lz_device_t, uint32_t *, lz_power_t *),                        \
       "zesDeviceEnumPowerDomains")                                            \
    F (card_power, (lz_device_t, lz_power_t *), "zesDeviceGetCardPowerDomain") \
    F (power_properties, (lz_power_t, lz_power_properties_t *),                \
       "zesPowerGetProperties")                                                \
    F (power_limits, (lz_power_t, lz_sustained_limit_t *, void *, void *),     \
       "zesPowerGetLimits")                                                    \
    F (energy, (lz_power_t, lz_energy_t *), "zesPowerGetEnergyCounter")        \
    F (engines, (lz_device_t, uint32_t *, lz_engine_t *),                      \
       "zesDeviceEnumEngineGroups")                                            \
    F (engine_properties, (lz_engine_t, lz_engine_properties_t *),             \
       "zesEngineGetProperties")                                               \
    F (activity, (lz_engine_t, lz_activity_t *), "zesEngineGetActivity")       \
    F (memories, (lz_device_t, uint32_t *, lz_memory_t *),                     \
       "zesDeviceEnumMemoryModules")                                           \
    F (memory_properties, (lz_memory_t, lz_memory_properties_t *),             \
       "zesMemoryGetProperties")                                               \
    F (memory_state, (lz_memory_t, lz_memory_state_t *), "zesMemoryGetState")  \
    F (frequencies, (lz_device_t, uint32_t *, lz_frequency_t *),               \
       "zesDeviceEnumFrequencyDomains")                                        \
    F (frequency_properties, (lz_frequency_t, lz_frequency_properties_t *),    \
       "zesFrequencyGetProperties")                                            \
    F (frequency_state, (lz_frequency_t, lz_frequency_state_t *),              \
       "zesFrequencyGetState")

#endif /* !GL_AGENT_LEVEL_ZERO_H */
