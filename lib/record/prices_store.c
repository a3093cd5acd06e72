/* The writing side of prices.h, which the plugin does not have. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "record/directory.h"
#include "record/prices.h"

#define PATH_SHOWN 512

static int replace_file (int at, const char *name, const char *path,
                         const char *text, size_t length, gl_error_t *error)
{
    const file_target_t target
        = {.at = at, .name = name, .mode = 0600, .sync = FILE_LOOSE};

    return file_replace (&target, path, text, length, error);
}

int prices_store (const char *spool, const char *node, const char *text,
                  size_t length, gl_error_t *error)
{
    char path[PATH_SHOWN];
    int at, rc;

    if (prices_check (text, length, node, error) < 0)
        return -1;
    if ((at = directory_open (AT_FDCWD, spool, spool, error)) < 0)
        return -1;
    snprintf (path, sizeof (path), "%s/prices", spool);
    rc = replace_file (at, "prices", path, text, length, error);
    close (at);
    return rc;
}

static int check_devices (const prices_device_t *devices, size_t count,
                          gl_error_t *error)
{
    if (count > PRICES_DEVICES_MAX)
        return gl_error (error, "devices: more than %d", PRICES_DEVICES_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *type = devices[i].type;
        if (devices[i].index < 0 || (*type && !prices_type_valid (type)))
            return gl_error (error,
                             "devices: entry %zu has no index or no "
                             "type that is a word",
                             i + 1);
        for (size_t k = 0; k < i; k++) {
            if (devices[k].index == devices[i].index)
                return gl_error (error, "devices: index %lld is given twice",
                                 (long long)devices[i].index);
        }
    }
    return 0;
}

int prices_store_devices (const char *spool, const prices_device_t *devices,
                          size_t count, gl_error_t *error)
{
    /* 512 lines of at most 20 + 1 + 63 + 1 bytes */
    char text[PRICES_FILE_MAX], path[PATH_SHOWN];
    size_t length;
    int at, rc;

    if (check_devices (devices, count, error) < 0)
        return -1;
    length = (size_t)snprintf (text, sizeof (text), PRICES_DEVICES_HEAD "\n");
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf (text + length, sizeof (text) - length,
                                    "%lld %s\n", (long long)devices[i].index,
                                    devices[i].type[0] ? devices[i].type
                                                       : PRICES_UNTYPED);
    length += (size_t)snprintf (text + length, sizeof (text) - length, "end\n");
    if ((at = directory_open_state (spool, true, error)) < 0)
        return -1;
    snprintf (path, sizeof (path), "%s/state/devices", spool);
    rc = replace_file (at, "devices", path, text, length, error);
    close (at);
    return rc;
}
