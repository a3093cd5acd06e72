/*
 * record.h: the one contract between node and host.
 *
 * A record is one fact that a node saw: a job began here, ended here, had
 * these devices. It is written once, with one write(2), and never changed;
 * its random 128-bit key makes taking it in twice the same as once. The bytes
 * are drawn in docs/formats/record.md; they are little-endian, so that a spool
 * moved to another machine reads the same.
 *
 * Everything here is libc alone, allocates nothing, never exits and keeps no
 * state: the plugin calls it inside Slurm's processes. All functions may be
 * called from any thread.
 *
 * Growing the format: a new field or kind takes the next free number in the
 * tables below and an old reader skips it (and keeps the bytes). A number is
 * never given a second meaning. What an old reader would misread needs a new
 * RECORD_VERSION; the envelope (magic, version, kind, length, key, stamp,
 * checksum) is the same in every version.
 */
#ifndef GL_RECORD_RECORD_H
#define GL_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RECORD_VERSION 1
#define RECORD_KEY_SIZE 16
/* The envelope: 36 bytes before the fields, 4 bytes of checksum after. */
#define RECORD_HEADER_SIZE 36
#define RECORD_MIN (RECORD_HEADER_SIZE + 4)
/* One page: a write of this size reaches a local file system in one piece,
 * and all fields of version 1 at their longest fit (checked at compile time).
 */
#define RECORD_MAX 4096

typedef enum {
    RECORD_JOB_START = 1,    /* a job began on this node (job_prolog) */
    RECORD_JOB_END = 2,      /* it ended on this node (job_epilog) */
    RECORD_STEP_DEVICES = 3, /* devices as a step's environment shows them */
    RECORD_JOB_USAGE = 4,    /* energy and activity of one device in a stretch of
                              * time, for one job (job_id absent: for nobody) */
    RECORD_INVENTORY = 5,    /* one device of a snapshot of the node's devices */
    RECORD_SKEW = 6,         /* the node's clock against the collector's */
    RECORD_JOB_UNITS = 7,    /* what a job produced in a stretch of time, by the
                              * counters of its server */
} record_kind_t;

/* Where a project or a list of labels came from. Written as numbers. */
typedef enum {
    RECORD_SOURCE_NONE = 0,        /* there is none */
    RECORD_SOURCE_OPTION = 1,      /* command line or #SBATCH directive */
    RECORD_SOURCE_ENVIRONMENT = 2, /* GPULEDGER_PROJECT, GPULEDGER_LABELS */
    RECORD_SOURCE_INHERITED = 3,   /* the job that submitted this job */
    RECORD_SOURCE_DEFAULT = 4,     /* none given; the account's default applies
                                    * (decided by the host, default=account) */
    RECORD_SOURCE_UNKNOWN = 5,     /* there is one, the road is not known */
} record_source_t;

/* What the device list of a record is worth. */
typedef enum {
    RECORD_DEVICES_UNKNOWN = 0,     /* nothing can be said */
    RECORD_DEVICES_COMPLETE = 1,    /* every device of the job on this node */
    RECORD_DEVICES_LOWER_BOUND = 2, /* those of one step: the job has at
                                     * least these */
    RECORD_DEVICES_LAST_TYPE = 3,   /* prolog and epilog: with several GPU
                                     * types on a node Slurm shows one only */
} record_devices_t;

/* How a job came to its part of a physical GPU's energy. */
typedef enum {
    RECORD_ENERGY_WHOLE = 1,  /* it alone held the whole GPU */
    RECORD_ENERGY_SLICES = 2, /* by the slices of a partitioned GPU */
    RECORD_ENERGY_SHARED = 3, /* in equal parts among the jobs on one device */
} record_energy_t;

/* Bits of the field `idle_rule`: what the rule (gpuledger-agent(8))
 * found at some moment of the stretch. */
/* Bits of throttle_reasons: why a clock is lower than it could be, whoever made
 * the GPU. Each reader translates what its driver says. */
#define RECORD_THROTTLE_IDLE 1      /* nothing to do: no throttling */
#define RECORD_THROTTLE_SETTINGS 2  /* clocks that people or a group have set */
#define RECORD_THROTTLE_POWER 4     /* a limit of power or of current */
#define RECORD_THROTTLE_THERMAL 8   /* a limit of temperature */
#define RECORD_THROTTLE_HARDWARE 16 /* a protection that says no more */

#define RECORD_IDLE_UTILIZATION 1 /* long below the threshold, memory held */
#define RECORD_IDLE_NO_PROCESS 2  /* long without any process */

/* Bits of the field `rejected`: what the user sent and we did not take. The
 * text itself is not kept: it is hostile until proven a tag. */
#define RECORD_REJECTED_PROJECT 1
#define RECORD_REJECTED_LABELS 2
#define RECORD_REJECTED_SOURCE 4

/*
 * The one table of fields: TEXT (number, member, longest in bytes, name) and
 * NUMBER (number, member, name). Numbers are 1..127. Texts hold no control
 * character; one that does or that is too long is left out as a whole and its
 * bit set in `omitted`, for half an account is another account.
 *
 * Three groups: the fields of every record, those of jobs (kinds 1 to 3) and
 * those of devices (kinds 4 to 7). A field set in a record of another group is
 * ignored, so that a record fits into RECORD_MAX whatever is set.
 */
#define RECORD_COMMON_FIELDS(TEXT, NUMBER) \
    TEXT (1, cluster, 128, "cluster") \
    TEXT (2, node, 128, "node") \
    NUMBER (3, job_id, "job_id") \
    TEXT (29, boot_id, 36, "boot_id") \
    /* bit n: field n was left out; bit 0: one above 62 was */ \
    NUMBER (30, omitted, "omitted")

#define RECORD_JOB_FIELDS(TEXT, NUMBER)                                      \
    NUMBER (4, uid, "uid")                                                   \
    NUMBER (5, gid, "gid")                                                   \
    TEXT (6, user, 128, "user")                                              \
    TEXT (7, account, 128, "account")                                        \
    TEXT (8, partition, 128, "partition")                                    \
    TEXT (9, reservation, 128, "reservation")                                \
    /* seconds since 1970 as slurmctld says, 23.02 and later; in a job-start \
     * the end is the expected one */                                        \
    NUMBER (10, start_time, "start_time")                                    \
    NUMBER (11, end_time, "end_time")                                        \
    /* identifies the attempt, 25.11 and later */                            \
    TEXT (12, sluid, 32, "sluid")                                            \
    NUMBER (13, restart_count, "restart_count")                              \
    NUMBER (14, het_job_id, "het_job_id")                                    \
    /* SLURM_JOB_GPUS or SLURM_STEP_GPUS, unchanged */                       \
    TEXT (15, gpus, 512, "gpus")                                             \
    TEXT (16, visible_devices, 1536, "visible_devices")                      \
    NUMBER (17, devices, "devices") /* record_devices_t */                   \
    NUMBER (18, gpus_on_node, "gpus_on_node")                                \
    TEXT (19, project, 64, "project")                                        \
    NUMBER (20, project_source, "project_source") /* record_source_t */      \
    TEXT (21, labels, 512, "labels")                                         \
    NUMBER (22, labels_source, "labels_source") /* record_source_t */        \
    NUMBER (23, rejected, "rejected")           /* RECORD_REJECTED_* */      \
    /* wait(2) statuses as Slurm gives them */                               \
    NUMBER (24, exit_code, "exit_code")                                      \
    NUMBER (25, derived_ec, "derived_ec")                                    \
    /* special steps as Slurm numbers them: 4294967291 is the batch step,    \
     * 4294967290 the interactive one */                                     \
    NUMBER (26, step_id, "step_id")                                          \
    TEXT (27, plugin_version, 32, "plugin_version")                          \
    TEXT (28, slurm_version, 32, "slurm_version")

/* Sums are over time: value x milliseconds, next to the milliseconds for which
 * the value was known; their quotient is the time-weighted mean. A value that
 * was never known leaves all its fields absent. */
#define RECORD_DEVICE_FIELDS(TEXT, NUMBER)                                     \
    /* UUIDs; slice is absent for a whole GPU */                               \
    TEXT (31, gpu, 96, "gpu")                                                  \
    TEXT (32, slice, 96, "slice")                                              \
    NUMBER (33, gres_index, "gres_index") /* Slurm's, where it is known */     \
    /* job-usage: the stretch [begin, end), milliseconds since 1970 */         \
    NUMBER (34, begin_ms, "begin_ms")                                          \
    NUMBER (35, end_ms, "end_ms")                                              \
    NUMBER (36, samples, "samples")                                            \
    NUMBER (37, samples_expected, "samples_expected")                          \
    NUMBER (38, energy_mj, "energy_mj")     /* this job's part, millijoules */ \
    NUMBER (39, energy_ms, "energy_ms")     /* the time that it speaks of */   \
    NUMBER (40, energy_rule, "energy_rule") /* record_energy_t */              \
    NUMBER (41, counter_resets, "counter_resets")                              \
    /* utilization in hundredths of a percent, 0..10000 */                     \
    NUMBER (42, utilization_sum, "utilization_sum")                            \
    NUMBER (43, utilization_ms, "utilization_ms")                              \
    NUMBER (44, utilization_max, "utilization_max")                            \
    /* milliseconds in each of 20 steps of 5 %, separated by commas; the last  \
     * one includes 100 % */                                                   \
    TEXT (45, utilization_histogram, 320, "utilization_histogram")             \
    NUMBER (46, memory_sum, "memory_sum") /* MiB in use */                     \
    NUMBER (47, memory_ms, "memory_ms")                                        \
    NUMBER (48, memory_max, "memory_max")                                      \
    NUMBER (49, memory_total, "memory_total") /* MiB that there are */         \
    NUMBER (50, power_sum, "power_sum") /* milliwatts of the physical GPU */   \
    NUMBER (51, power_ms, "power_ms")                                          \
    NUMBER (52, power_max, "power_max")                                        \
    NUMBER (53, clock_sum, "clock_sum") /* MHz of its processors */            \
    NUMBER (54, clock_ms, "clock_ms")                                          \
    NUMBER (55, throttled_ms, "throttled_ms") /* reasons but idle */           \
    NUMBER (56, throttle_ms, "throttle_ms")                                    \
    NUMBER (57, throttle_reasons, "throttle_reasons") /* RECORD_THROTTLE_* */  \
    NUMBER (58, processes_ms, "processes_ms")                                  \
    NUMBER (59, processes_max, "processes_max")                                \
    NUMBER (60, no_process_ms, "no_process_ms")                                \
    NUMBER (61, idle_ms, "idle_ms") /* below the idle threshold */             \
    /* the longest run of that which reaches into this stretch, from its own   \
     * beginning, which may be before the stretch */                           \
    NUMBER (62, idle_longest_ms, "idle_longest_ms")                            \
    NUMBER (63, idle_rule, "idle_rule") /* RECORD_IDLE_* */                    \
    NUMBER (64, holders, "holders")     /* most jobs at once on this device */ \
    NUMBER (65, interval_ms, "interval_ms") /* between two samples */          \
    /* inventory: devices of one snapshot share its number, the stamp at which \
     * it was taken; part 1..parts. A node without devices has parts 0. */     \
    NUMBER (70, snapshot, "snapshot")                                          \
    NUMBER (71, part, "part")                                                  \
    NUMBER (72, parts, "parts")                                                \
    TEXT (73, device_source, 16, "device_source") /* nvml, amdgpu, ... */     \
    TEXT (74, driver, 64, "driver")                                            \
    TEXT (75, model, 96, "model")                                              \
    TEXT (76, pci, 32, "pci")                                                  \
    NUMBER (77, minor, "minor") /* of its device file */                       \
    NUMBER (78, partitioned, "partitioned") /* 1: cut into slices, 0: not */   \
    NUMBER (79, gpu_instance, "gpu_instance")                                  \
    NUMBER (80, compute_instance, "compute_instance")                          \
    TEXT (81, profile, 32, "profile")                                          \
    NUMBER (82, compute_slices, "compute_slices")                              \
    NUMBER (83, memory_slices, "memory_slices")                                \
    NUMBER (84, placement_start, "placement_start")                            \
    NUMBER (85, placement_size, "placement_size")                              \
    NUMBER (86, power_limit, "power_limit") /* milliwatts */                   \
    TEXT (87, gres_type, 64, "gres_type")                                      \
    TEXT (88, device_file, 128, "device_file")                                 \
    TEXT (89, problem, 256, "problem") /* why Slurm's identity is unknown */   \
    NUMBER (90, shards, "shards")      /* gres/shard of the device */          \
    /* skew: the node's clock minus the collector's, and how far from the      \
     * truth that may be, nanoseconds */                                       \
    NUMBER (100, skew_ns, "skew_ns")                                           \
    NUMBER (101, skew_bound_ns, "skew_bound_ns")                               \
    /* job-units: so many of this unit in [begin, end) */                      \
    TEXT (102, unit, 64, "unit")                                               \
    NUMBER (103, quantity, "quantity")

#define RECORD_FIELDS(TEXT, NUMBER) \
    RECORD_COMMON_FIELDS (TEXT, NUMBER) \
    RECORD_JOB_FIELDS (TEXT, NUMBER) \
    RECORD_DEVICE_FIELDS (TEXT, NUMBER)

#define RECORD_ENUM_TEXT(number, member, size, name) \
    RECORD_FIELD_##member = number,
#define RECORD_ENUM_NUMBER(number, member, name) RECORD_FIELD_##member = number,
typedef enum {
    RECORD_FIELDS (RECORD_ENUM_TEXT, RECORD_ENUM_NUMBER)
} record_field_t;

#define RECORD_MEMBER_TEXT(number, member, size, name) char member[size + 1];
#define RECORD_MEMBER_NUMBER(number, member, name) int64_t member;

/* A decoded record. A plain value without pointers: copy it, put it on the
 * stack. A field that is absent reads as "" or 0; record_has() tells an absent
 * one from an empty one. */
typedef struct {
    unsigned version;
    unsigned kind; /* a record_kind_t, or one that this build does not know */
    unsigned char key[RECORD_KEY_SIZE];
    int64_t stamp;    /* the node's UTC clock, nanoseconds since 1970 */
    uint64_t present[2]; /* bit n % 64 of word n / 64: field n is there */
    unsigned unknown; /* fields of numbers that this build does not know */
    RECORD_FIELDS (RECORD_MEMBER_TEXT, RECORD_MEMBER_NUMBER)
} record_t;

/* The field is there. */
#define record_has(record, member) \
    record_has_field (record, RECORD_FIELD_##member)

/* An empty record of `kind`, stamped with the clock and with a new random key.
 * Returns -1 when the system gives neither. */
int record_begin (record_t *record, record_kind_t kind, gl_error_t *error);

bool record_has_field (const record_t *record, record_field_t field);

/* Put a value into a field. NULL leaves it absent. A text that is too long or
 * holds a control character is left out and noted in `omitted`. Setting again
 * replaces. A number given for a text field (or the reverse) is
 * ignored, and so is a field that the record's kind does not have. */
void record_set_text (record_t *record, record_field_t field, const char *text);
void record_set_number (record_t *record, record_field_t field, int64_t value);

/* Write the bytes; returns how many (at most RECORD_MAX, never fails). */
size_t record_encode (const record_t *record, unsigned char bytes[RECORD_MAX]);

/*
 * Read one record of exactly `size` bytes.
 *  0: understood.
 *  1: whole and undamaged, but of a version or kind that this build does not
 *     know: version, kind, key and stamp are set, fields are not. Keep the
 *     bytes for a later build.
 * -1: not a record: damaged, cut, or a field breaks the rules of its table.
 */
int record_decode (const unsigned char *bytes, size_t size, record_t *ret_record,
                   gl_error_t *error);

/*
 * Looks at the beginning of `bytes`, `size` of which are there:
 * > 0 a whole record of that many bytes with a right checksum;
 *   0 it may become one when more bytes arrive;
 *  -1 no record begins here.
 */
int record_probe (const unsigned char *bytes, size_t size);

/* Names for people: "job-start", "option", "complete"; "kind 17" and the like
 * are the caller's to print when NULL comes back. */
const char *record_kind_name (unsigned kind);
const char *record_source_name (int64_t source);
const char *record_devices_name (int64_t devices);
/* The reverse for a source, -1 for any other text. `text` may be hostile. */
int record_source_number (const char *text);

/* Walk the fields that are there, in order of their numbers, for printing:
 * start with *cursor = 0; returns false at the end. *ret_text is NULL for a
 * number. */
bool record_next_field (const record_t *record, unsigned *cursor,
                        const char **ret_name, const char **ret_text,
                        int64_t *ret_number);

#endif /* !GL_RECORD_RECORD_H */
