/*
 * sysfs.h: small files of /sys and /proc, one value each.
 *
 * A root in place of "/sys" or "/proc" lets tests give a tree of their own. What
 * cannot be read, is empty or is no number is unknown, never 0.
 */
#ifndef GL_AGENT_SYSFS_H
#define GL_AGENT_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"

#define SYSFS_PATH_MAX 512

/* The first line of the file ROOT/fmt, without blanks around it. "" and false
 * if it cannot be read or has a control character. */
bool sysfs_text (char *ret_text, size_t size, const char *root, const char *fmt,
                 ...) __attribute__ ((format (printf, 4, 5)));
/* A decimal number that is not negative, else DEVICE_UNKNOWN. */
int64_t sysfs_number (const char *root, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));
/* All of a file of less than `size` bytes, as it is: how many, or -1. */
int sysfs_bytes (void *ret_bytes, size_t size, const char *root,
                 const char *fmt, ...) __attribute__ ((format (printf, 4, 5)));

/* The names in a directory that begin with `prefix`, followed by a number: the
 * numbers in ascending order, at most `max`. -1: there is no such directory. */
int sysfs_numbered (int64_t *ret_numbers, int max, const char *prefix,
                    const char *root, const char *fmt, ...)
    __attribute__ ((format (printf, 5, 6)));

/* The device files of the GPU whose directory has the entries drm/cardN and
 * drm/renderDN: file, card and minor of the device. */
void sysfs_device_files (device_t *device, const char *root, const char *path);

#endif /* !GL_AGENT_SYSFS_H */
