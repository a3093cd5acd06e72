#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "record/prices.h"
#include "ship_batch.h"
#include "wire/frame.h"

#define DEVICES_FILE "state/devices"

struct texts {
    const char *text[TEXTS_MAX];
    size_t count;
};

static void add_once (struct texts *texts, const char *text)
{
    for (size_t i = 2; i < texts->count; i++) /* behind cluster and node */
        if (strcmp (texts->text[i], text) == 0)
            return;
    if (texts->count < TEXTS_MAX)
        texts->text[texts->count++] = text;
}

/* "INDEX TYPE" lines between the title and "end". */
static void add_types (struct texts *texts, char *file)
{
    char *rest, *line = strtok_r (file, "\n", &rest);

    while (line && (line = strtok_r (NULL, "\n", &rest))) {
        char *type = strchr (line, ' ');

        if (type && type[1])
            add_once (texts, type + 1);
    }
}

static char *read_devices (const char *spool)
{
    char path[PATH_MAX];
    size_t size;

    snprintf (path, sizeof (path), "%s/" DEVICES_FILE, spool);
    return file_read (AT_FDCWD, path, path, PRICES_FILE_MAX, &size, NULL);
}

unsigned char *prices_request (const char *spool, const char *cluster,
                               const char *node, size_t *ret_size)
{
    struct texts texts = {.text = {cluster, node}, .count = 2};
    unsigned char *payload;
    char *devices;

    if (!cluster || !*cluster || !node || !*node)
        return NULL;
    if ((devices = read_devices (spool)))
        add_types (&texts, devices);
    *ret_size = REQUEST_HEADER_SIZE + texts_size (texts.text, texts.count);
    if ((payload = malloc (*ret_size)))
        texts_write (payload + REQUEST_HEADER_SIZE, texts.text, texts.count);
    free (devices);
    return payload;
}
