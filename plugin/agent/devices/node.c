/* node.c: the GPUs of all vendors in a node, as one source. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"

#include "source.h"

#define SECOND INT64_C (1000000000)
/* How often a vendor without GPUs is tried again. */
#define RETRY_INTERVAL (60 * SECOND)

static source_t *open_nvml (const source_places_t *places, gl_error_t *error)
{
    return source_open_nvml (places->nvml, places->proc, error);
}

static source_t *open_amd (const source_places_t *places, gl_error_t *error)
{
    return source_open_amd (places->sys, places->proc, error);
}

static source_t *open_level_zero (const source_places_t *places,
                                  gl_error_t *error)
{
    return source_open_level_zero (places->level_zero, places->sys, error);
}

const source_places_t source_usual_places
    = {.nvml = "", .level_zero = "", .sys = "/sys", .proc = "/proc"};

const source_vendor_t source_vendors[SOURCE_VENDORS] = {
    {"NVIDIA", open_nvml},
    {"AMD", open_amd},
    {"Intel", open_level_zero},
};

/* What one vendor has. */
typedef struct {
    source_t *source;      /* NULL: not open */
    bool fresh;            /* opened with GPUs since the node's last scan */
    bool failed;           /* not open, though the vendor is there */
    inventory_t inventory; /* as of that scan, or of the last that succeeded */
    gl_error_t problem;    /* why it is not open */
} member_t;

typedef struct {
    source_t source;
    const source_places_t *places;
    member_t member[SOURCE_VENDORS];
    int64_t tried; /* when those that are not open were tried last */
} node_t;

/* ------------------------------------------------------------------ one vendor */

static void drop (member_t *member)
{
    source_close (member->source);
    member->source = NULL;
}

static void scan_member (node_t *node, size_t i, int64_t now)
{
    member_t *member = &node->member[i];

    if (member->source->ops->scan (member->source, now, &member->inventory,
                                   &member->problem)
        < 0)
        drop (member);
    member->fresh = false;
}

/* Its inventory stays as it is until the next scan. */
static void open_member (node_t *node, size_t i, int64_t now)
{
    member_t *member = &node->member[i];
    inventory_t inventory = {.count = 0};

    member->source = source_vendors[i].open (node->places, &member->problem);
    member->failed = !member->source && errno != ENOENT;
    if (!member->source)
        return;
    if (member->source->ops->scan (member->source, now, &inventory,
                                   &member->problem)
        < 0) {
        drop (member);
        member->failed = true;
    } else if (inventory.count == 0) {
        gl_error (&member->problem, "the driver shows no GPU");
    }
    member->fresh = inventory.count > 0;
    inventory_clear (&inventory);
}

/* True: one was opened, so that a scan is due. */
static bool retry (node_t *node, int64_t now)
{
    bool opened = false;

    if (now - node->tried < RETRY_INTERVAL && now >= node->tried)
        return false;
    node->tried = now;
    for (size_t i = 0; i < SOURCE_VENDORS; i++) {
        if (node->member[i].source)
            continue;
        open_member (node, i, now);
        opened |= node->member[i].fresh;
    }
    return opened;
}

/* ------------------------------------------------------------------- all of them */

/* A vendor that had devices and cannot be read is a problem of the node, if
 * another can; one without devices is none. */
static void say_problem (node_t *node)
{
    gl_error_t *problem = &node->source.problem;

    problem->text[0] = '\0';
    for (size_t i = 0; i < SOURCE_VENDORS; i++) {
        const member_t *member = &node->member[i];
        if (!member->source && member->inventory.count > 0)
            gl_error (problem, "%s GPUs: %s", source_vendors[i].name,
                      member->problem.text);
    }
}

static int fail (const node_t *node, gl_error_t *error)
{
    char text[GL_ERROR_SIZE] = "";
    size_t length = 0;

    for (size_t i = 0; i < SOURCE_VENDORS; i++) {
        length = strlen (text);
        snprintf (text + length, sizeof (text) - length, "%s%s: %.250s",
                  i ? "; " : "", source_vendors[i].name,
                  node->member[i].problem.text);
    }
    return gl_error (error, "no GPU answers. %s", text);
}

static bool any_open (const node_t *node)
{
    return GL_ANY (node->member, SOURCE_VENDORS, it, it->source != NULL);
}

/* Its devices behind those that are there; indices move by their number. */
static void append (inventory_t *to, const inventory_t *from)
{
    size_t first = to->count;

    for (size_t i = 0; i < from->count; i++) {
        device_t *device = inventory_add (to);
        if (!device)
            return;
        *device = from->device[i];
        device->gpu += first;
    }
}

static int scan (source_t *source, int64_t now, inventory_t *ret_inventory,
                 gl_error_t *error)
{
    node_t *node = (node_t *)source;
    inventory_t inventory = {.count = 0};
    char path[320];

    for (size_t i = 0; i < SOURCE_VENDORS; i++)
        if (node->member[i].source)
            scan_member (node, i, now);
    say_problem (node);
    if (!any_open (node))
        return fail (node, error);
    for (size_t i = 0; i < SOURCE_VENDORS; i++)
        append (&inventory, &node->member[i].inventory);
    snprintf (path, sizeof (path), "%.255s/sys/kernel/random/boot_id",
              node->places->proc);
    file_read_small (path, inventory.boot_id, sizeof (inventory.boot_id));
    inventory.boot_id[strcspn (inventory.boot_id, "\n")] = '\0';
    inventory_clear (ret_inventory);
    *ret_inventory = inventory;
    return 0;
}

/* Samples of a vendor's devices; 1: a scan is due. */
static int look_member (member_t *member, int64_t now, sample_t *samples)
{
    int rc;

    for (size_t i = 0; i < member->inventory.count; i++)
        samples[i] = sample_unknown (false);
    if (!member->source || member->fresh)
        return 0;
    rc = member->source->ops->look (member->source, now, &member->inventory,
                                    samples, &member->problem);
    return rc != 0;
}

static int look (source_t *source, int64_t now, const inventory_t *inventory,
                 sample_t *samples, gl_error_t *error)
{
    node_t *node = (node_t *)source;
    size_t first = 0;
    int changed = 0;

    for (size_t i = 0; i < SOURCE_VENDORS; i++)
        first += node->member[i].inventory.count;
    if (first != inventory->count)
        return gl_error (error, "another scan was made since");
    first = 0;
    for (size_t i = 0; i < SOURCE_VENDORS; i++) {
        changed |= look_member (&node->member[i], now, samples + first);
        first += node->member[i].inventory.count;
    }
    return changed | retry (node, now);
}

static void close_node (source_t *source)
{
    node_t *node = (node_t *)source;

    for (size_t i = 0; i < SOURCE_VENDORS; i++) {
        drop (&node->member[i]);
        inventory_clear (&node->member[i].inventory);
    }
    free (node);
}

static bool has_gpus (const node_t *node)
{
    return GL_ANY (node->member, SOURCE_VENDORS, it, it->fresh);
}

/* A driver says that the node has no GPU, and nothing speaks against it. */
static bool says_none (const node_t *node)
{
    return any_open (node)
           && !GL_ANY (node->member, SOURCE_VENDORS, it, it->failed);
}

static const source_ops_t node_ops = {
    .name = "node",
    .close = close_node,
    .scan = scan,
    .look = look,
};

source_t *source_open_node (const source_places_t *places, int64_t now,
                            gl_error_t *error)
{
    node_t *node = xcalloc (1, sizeof (*node));

    node->source.ops = &node_ops;
    node->places = places;
    node->tried = now;
    for (size_t i = 0; i < SOURCE_VENDORS; i++)
        open_member (node, i, now);
    if (has_gpus (node) || says_none (node))
        return &node->source;
    fail (node, error);
    close_node (&node->source);
    return NULL;
}
