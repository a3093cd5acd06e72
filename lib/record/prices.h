/*
 * prices.h: two texts in a node's spool that let a step say what its devices
 * cost: SPOOL/prices, made by the collector, and SPOOL/state/devices, made by
 * the agent (docs/formats/prices.md).
 *
 * The writing side belongs to the agent: a file is checked, written under
 * another name and renamed, so that a reader sees a whole one. The reading side
 * belongs to the plugin's step hook: some local file operations, bounded by the
 * sizes below, no allocation, no lock. A file that is damaged, too large, a
 * link, or not the effective user's alone is no knowledge, never a failure of a
 * job.
 *
 * libc alone, no state, safe in any process and thread; a reader takes some
 * 64 KiB of stack. An error is a text for one line of log.
 */
#ifndef GL_RECORD_PRICES_H
#define GL_RECORD_PRICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A line is some 40 bytes: room for 1,600 types and QOS. */
#define PRICES_FILE_MAX (64 << 10)
/* Devices of one node; more is no list of devices. */
#define PRICES_DEVICES_MAX 512
#define PRICES_TYPE_MAX 63
/* A price is a number of these parts of the currency. */
#define PRICES_DIGITS 4
#define PRICES_UNIT 10000
/* Per device-hour, in PRICES_UNIT parts: a thousand million of the currency
 * for all devices of a node still fits 64 bits. */
#define PRICES_AMOUNT_MAX INT64_C (10000000000000)
/* The type of a device without one. */
#define PRICES_UNTYPED "gpu"

#define PRICES_DEVICES_HEAD "gpuledger-devices 1"

/* The text is such a file, for `node` (NULL: any). */
int prices_check (const char *text, size_t length, const char *node,
                  gl_error_t *error);
/* 1 to PRICES_TYPE_MAX printable characters without blanks. */
bool prices_type_valid (const char *type);

/* Store the collector's answer to VERB_PRICES as SPOOL/prices. -1 and the old
 * file stays for a text that is not such a file or not `node`'s (NULL: any). */
int prices_store (const char *spool, const char *node, const char *text,
                  size_t length, gl_error_t *error);

/* What slurmd's table says of one index. "" is a device without a type. */
typedef struct {
    int64_t index;
    char type[PRICES_TYPE_MAX + 1];
} prices_device_t;

/* Store the table as SPOOL/state/devices; leave out what is unknown. An index
 * twice, or a type that is no word, is an error. */
int prices_store_devices (const char *spool, const prices_device_t *devices,
                          size_t count, gl_error_t *error);

typedef struct {
    int64_t per_hour; /* of all the devices, in PRICES_UNIT parts */
    char currency[4];
} prices_answer_t;

/*
 * What the devices `gpus` ("0,1,4" or "0-3": Slurm's indices on this node) cost
 * in an hour. `qos` NULL or "": not known. `now`: seconds since 1970.
 * 1: *ret_answer is known; 0: not known (no file, too old, a device without a
 * price, no spool); -1: a file is damaged or not to be trusted.
 */
int prices_of_devices (const char *spool, const char *gpus, const char *qos,
                       int64_t now, prices_answer_t *ret_answer,
                       gl_error_t *error);

/* "14.40", "0.5143": at least two decimals, no needless ones after. */
#define PRICES_TEXT_SIZE 32
void prices_text (int64_t amount, char ret_text[PRICES_TEXT_SIZE]);

#endif /* !GL_RECORD_PRICES_H */
