#include "sysfs.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"

__attribute__ ((format (printf, 3, 0))) static void
form_path (char path[SYSFS_PATH_MAX], const char *root, const char *fmt,
           va_list args)
{
    int length = snprintf (path, SYSFS_PATH_MAX, "%.255s/", root);

    vsnprintf (path + length, SYSFS_PATH_MAX - (size_t)length, fmt, args);
}

/* A name from a driver ends up in records, and those have no control
 * characters. */
static bool trim (char *text)
{
    size_t length = strcspn (text, "\n"), blanks = strspn (text, " \t");

    while (length > blanks
           && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    text[length] = '\0';
    if (blanks && length >= blanks)
        memmove (text, text + blanks, length - blanks + 1);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return *text != '\0';
}

static bool read_text (char *ret_text, size_t size, const char *path)
{
    if (file_read_small (path, ret_text, size) < 0 || !trim (ret_text)) {
        ret_text[0] = '\0';
        return false;
    }
    return true;
}

bool sysfs_text (char *ret_text, size_t size, const char *root, const char *fmt,
                 ...)
{
    char path[SYSFS_PATH_MAX];
    va_list args;

    va_start (args, fmt);
    form_path (path, root, fmt, args);
    va_end (args);
    return read_text (ret_text, size, path);
}

int64_t sysfs_number (const char *root, const char *fmt, ...)
{
    char path[SYSFS_PATH_MAX], text[32];
    va_list args;
    int64_t number;

    va_start (args, fmt);
    form_path (path, root, fmt, args);
    va_end (args);
    if (!read_text (text, sizeof (text), path)
        || number_i64_text (text, &number) < 0 || number < 0)
        return DEVICE_UNKNOWN;
    return number;
}

int sysfs_bytes (void *ret_bytes, size_t size, const char *root,
                 const char *fmt, ...)
{
    char path[SYSFS_PATH_MAX];
    va_list args;

    va_start (args, fmt);
    form_path (path, root, fmt, args);
    va_end (args);
    return (int)file_read_small (path, ret_bytes, size);
}

static int ascending (const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int sysfs_numbered (int64_t *ret_numbers, int max, const char *prefix,
                    const char *root, const char *fmt, ...)
{
    char path[SYSFS_PATH_MAX];
    size_t length = strlen (prefix);
    struct dirent *entry;
    va_list args;
    int count = 0;
    DIR *dir;

    va_start (args, fmt);
    form_path (path, root, fmt, args);
    va_end (args);
    dir = opendir (path);
    if (!dir)
        return -1;
    while (count < max && (entry = readdir (dir)))
        if (!strncmp (entry->d_name, prefix, length)
            && number_i64_text (entry->d_name + length, &ret_numbers[count])
                   == 0
            && ret_numbers[count] >= 0)
            count++;
    closedir (dir);
    qsort (ret_numbers, (size_t)count, sizeof (*ret_numbers), ascending);
    return count;
}

void sysfs_device_files (device_t *device, const char *root, const char *path)
{
    int64_t number;

    if (sysfs_numbered (&number, 1, "renderD", root, "%s/drm", path) == 1) {
        device->minor = number;
        snprintf (device->file, sizeof (device->file),
                  "/dev/dri/renderD%" PRId64, number);
    }
    if (sysfs_numbered (&number, 1, "card", root, "%s/drm", path) == 1)
        snprintf (device->card, sizeof (device->card), "/dev/dri/card%" PRId64,
                  number);
}
