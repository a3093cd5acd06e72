#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "record/prices.h"

#include "devices/mapping.h"
#include "watch.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define NS_PER_MS 1000000

void watch_open (watch_t *watch, const char *replay, const char *spool,
                 const char *node, bool alone)
{
    *watch = (watch_t){.replay = replay,
                       .spool = spool,
                       .node = node,
                       .alone = alone,
                       .due = true};
    if (file_read_small (BOOT_ID, watch->machine_boot_id,
                         sizeof (watch->machine_boot_id))
        < 36)
        watch->machine_boot_id[0] = '\0';
    memcpy (watch->boot_id, watch->machine_boot_id, sizeof (watch->boot_id));
}

void watch_close (watch_t *watch)
{
    source_close (watch->source);
    inventory_clear (&watch->inventory);
    inventory_clear (&watch->before);
    gres_table_clear (&watch->gres);
    free (watch->samples);
    *watch = (watch_t){.due = true};
}

static void know_nothing (watch_t *watch)
{
    for (size_t i = 0; i < watch->inventory.count; i++)
        watch->samples[i] = sample_unknown (false);
}

/* A pause that ends later than a pause can take was begun before the clock was
 * set back, and is over. */
static bool rests_until (int64_t until_ms, int64_t now)
{
    int64_t left = until_ms - now / NS_PER_MS;

    return left > 0 && left <= WATCH_RETRY_MS;
}

static int open_source (watch_t *watch, int64_t now, gl_error_t *error)
{
    if (watch->source)
        return 0;
    if (rests_until (watch->retry_ms, now))
        return gl_error (error, "%s", watch->problem.text);
    watch->source = watch->replay
                        ? source_open_replay (watch->replay, now, error)
                        : source_open_node (&source_usual_places, now, error);
    watch->due = true;
    watch->retry_ms = now / NS_PER_MS + WATCH_RETRY_MS;
    if (watch->source)
        return 0;
    watch->problem = *error;
    return -1;
}

/*
 * Slurm's names.
 */

/* For the plugin, which has no other way from an index to a type. */
static void store_types (const watch_t *watch, gl_error_t *error)
{
    prices_device_t devices[PRICES_DEVICES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < watch->inventory.count; i++) {
        const device_t *device = &watch->inventory.device[i];
        if (device->gres_index < 0 || count == PRICES_DEVICES_MAX)
            continue;
        devices[count].index = device->gres_index;
        snprintf (devices[count].type, sizeof (devices[count].type), "%s",
                  device->gres_type);
        count++;
    }
    prices_store_devices (watch->spool, devices, count, error);
}

static int load_table (watch_t *watch, const char *path, gl_error_t *error)
{
    if (watch->gres_known)
        return 0;
    return gres_table_load (path, &watch->slurmd, &watch->gres, error);
}

/* 1: slurmd is another one; 0; -1. */
static int follow_slurmd (watch_t *watch, int64_t now, gl_error_t *error)
{
    char path[PATH_MAX];
    int rc;

    if (rests_until (watch->gres_ms, now))
        return 0;
    watch->gres_ms = now / NS_PER_MS + WATCH_RETRY_MS;
    snprintf (path, sizeof (path), "%s/state/gres", watch->spool);
    rc = watch->alone ? load_table (watch, path, error)
                      : gres_table_follow (path, watch->node, &watch->slurmd,
                                           &watch->gres, error);
    watch->gres_known |= rc > 0;
    return rc;
}

static void name_devices (watch_t *watch, gl_error_t *error)
{
    mapping_fill (&watch->inventory, watch->gres_known ? &watch->gres : NULL,
                  error);
    store_types (watch, error);
}

/*
 * Looking.
 */

static int scan (watch_t *watch, int64_t now, gl_error_t *error)
{
    inventory_t inventory = {.count = 0};

    if (watch->source->ops->scan (watch->source, now, &inventory, error) < 0)
        return -1;
    inventory_clear (&watch->before);
    watch->before = watch->inventory;
    watch->inventory = inventory;
    watch->samples = xreallocarray (watch->samples, inventory.count + 1,
                                    sizeof (*watch->samples));
    know_nothing (watch);
    memcpy (watch->boot_id,
            inventory.boot_id[0] ? inventory.boot_id : watch->machine_boot_id,
            sizeof (watch->boot_id));
    watch->due = false;
    return 0;
}

static int look (watch_t *watch, int64_t now, gl_error_t *error)
{
    return watch->source->ops->look (watch->source, now, &watch->inventory,
                                     watch->samples, error);
}

/* A driver that was loaded anew wants its library opened anew. */
static void give_up (watch_t *watch, int64_t now, const gl_error_t *error)
{
    source_close (watch->source);
    watch->source = NULL;
    watch->retry_ms = now / NS_PER_MS + WATCH_RETRY_MS;
    watch->problem = *error;
}

/* The inventory must be that of the look. 1 if it was scanned. */
static int look_and_scan (watch_t *watch, int64_t now, gl_error_t *error)
{
    int rc = watch->due ? 1 : look (watch, now, error);

    if (rc <= 0)
        return rc;
    if (scan (watch, now, error) < 0) {
        give_up (watch, now, error);
        return -1;
    }
    return look (watch, now, error) < 0 ? -1 : 1;
}

int watch_look (watch_t *watch, int64_t now, gl_error_t *error,
                gl_error_t *gres_error)
{
    int rc, slurmd;

    gres_error->text[0] = '\0';
    if (open_source (watch, now, error) < 0)
        return -1;
    rc = look_and_scan (watch, now, error);
    if (rc < 0) {
        know_nothing (watch);
        watch->due = true;
        return -1;
    }
    *error = watch->source->problem;
    slurmd = follow_slurmd (watch, now, gres_error);
    if (rc > 0 || slurmd > 0)
        name_devices (watch, gres_error);
    if (watch->writer)
        replay_writer_look (watch->writer, now, &watch->inventory,
                            watch->samples, NULL); /* its end tells */
    return slurmd > 0
           || (rc > 0 && !inventory_equal (&watch->before, &watch->inventory));
}
