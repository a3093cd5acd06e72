#include "gres_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "gres/nodelist.h"

#define FILE_MAX (1 << 20)

void gres_table_clear (gres_table_t *table)
{
    free (table->device);
    memset (table, 0, sizeof (*table));
}

static gres_device_t *add_device (gres_table_t *table)
{
    gres_device_t *device;

    if (table->count == DEVICES_MAX)
        return NULL;
    device = GL_APPEND (table->device, table->count);
    memset (device, 0, sizeof (*device));
    return device;
}

/* --------------------------------------------------- what slurmd -G prints */

/* "... Gres Name=gpu Type=h100 Count=2 Index=0 ID=7696487
 * File=/dev/nvidia[0-1] Links=... Flags=...": the words that count. */
typedef struct {
    char name[64];
    char type[64];
    char file[1024];
    char flags[256];
    uint64_t count;
} line_t;

/* The value of KEY= in a line, up to a blank; "" when it is not there or is
 * Slurm's "(null)". False: it is too long. */
static bool value_of (const char *line, const char *key, char *ret_value,
                      size_t size)
{
    size_t key_length = strlen (key), length;
    const char *found = line;

    ret_value[0] = '\0';
    do {
        found = strstr (found, key);
        if (!found)
            return true;
        found += key_length;
    } while (found - key_length > line && found[-1 - (long)key_length] != ' ');
    length = strcspn (found, " \t\r");
    if (length >= size)
        return false;
    memcpy (ret_value, found, length);
    ret_value[length] = '\0';
    if (!strcmp (ret_value, "(null)"))
        ret_value[0] = '\0';
    return true;
}

static int read_line (const char *text, line_t *ret_line, gl_error_t *error)
{
    char count[32];

    if (!value_of (text, "Name=", ret_line->name, sizeof (ret_line->name))
        || !value_of (text, "Type=", ret_line->type, sizeof (ret_line->type))
        || !value_of (text, "File=", ret_line->file, sizeof (ret_line->file))
        || !value_of (text, "Flags=", ret_line->flags, sizeof (ret_line->flags))
        || !value_of (text, "Count=", count, sizeof (count)))
        return gl_error (error, "slurmd -G: a word is too long in '%.80s...'",
                         text);
    if (number_u64_text (count, &ret_line->count) < 0)
        return gl_error (error, "slurmd -G: no Count= in '%.80s'", text);
    return 0;
}

__attribute__ ((format (printf, 2, 3))) static void
meaningless (gres_table_t *table, const char *fmt, ...)
{
    va_list args;

    va_start (args, fmt);
    if (!*table->problem)
        vsnprintf (table->problem, sizeof (table->problem), fmt, args);
    va_end (args);
}

static int take_file (gres_device_t *device, const char *file,
                      gl_error_t *error)
{
    if (device->file_count == GRES_FILES_MAX)
        return gl_error (error, "slurmd -G: more than %d files for one device",
                         GRES_FILES_MAX);
    if (strlen (file) >= sizeof (device->file[0]))
        return gl_error (error, "slurmd -G: file name too long: '%.80s...'",
                         file);
    strcpy (device->file[device->file_count++], file);
    return 0;
}

/* One device with all the files, or one device for each. */
static int take_files (gres_table_t *table, const line_t *line,
                       nodelist_t *files, bool together, gl_error_t *error)
{
    gres_device_t *device = NULL;
    const char *file;

    while ((file = nodelist_next (files))) {
        if (!device || !together) {
            device = add_device (table);
            if (!device)
                return gl_error (error, "slurmd -G: more than %d devices",
                                 DEVICES_MAX);
            memcpy (device->type, line->type, sizeof (device->type));
        }
        if (take_file (device, file, error) < 0)
            return -1;
    }
    return 0;
}

static int take_gpu (gres_table_t *table, const line_t *line, gl_error_t *error)
{
    nodelist_t *files;
    uint64_t count;
    int result = 0;

    if (!*line->file) {
        meaningless (table,
                     "gres.conf has no File= for GPUs of type '%s': Slurm "
                     "does not say which of them a job gets",
                     line->type);
        return 0;
    }
    files = nodelist_open (line->file, error);
    if (!files)
        return -1;
    count = nodelist_count (files);
    if (count != line->count && line->count != 1)
        meaningless (table,
                     "slurmd's line with File=%.120s does not say how many "
                     "files one device has",
                     line->file);
    else
        result = take_files (
            table, line, files,
            line->count == 1 || strstr (line->flags, "HAS_MULT"), error);
    nodelist_close (files);
    return result;
}

/* A line of shards, which may come before those of GPUs: of the GPU with that
 * file, or without one of all GPUs, or of those of a type. */
typedef struct {
    char file[128];
    char type[64];
    uint64_t count;
} shards_t;

typedef struct {
    gres_table_t *table;
    shards_t *shards;
    size_t shards_count;
} reading_t;

static void take_shards (reading_t *reading, const line_t *line)
{
    shards_t *shards;

    if (strlen (line->file) >= sizeof (shards->file)
        || reading->shards_count == DEVICES_MAX)
        return;
    shards = GL_APPEND (reading->shards, reading->shards_count);
    strcpy (shards->file, line->file);
    memcpy (shards->type, line->type, sizeof (shards->type));
    shards->count = line->count;
}

static bool is_of (const gres_device_t *device, const shards_t *shards)
{
    if (*shards->file)
        return GL_ANY (device->file, device->file_count, it,
                       !strcmp (*it, shards->file));
    return !*shards->type || !strcmp (device->type, shards->type);
}

/* In equal parts, the rest to the first. */
static void give_shards (gres_table_t *table, const shards_t *shards)
{
    uint64_t devices = 0, given = 0;

    for (size_t i = 0; i < table->count; i++)
        devices += is_of (&table->device[i], shards);
    for (size_t i = 0; i < table->count; i++)
        if (is_of (&table->device[i], shards))
            table->device[i].shards += shards->count / devices
                                       + (given++ < shards->count % devices);
}

static int take_line (reading_t *reading, const char *text, gl_error_t *error)
{
    const char *gres = strstr (text, "Gres Name=");
    line_t line;

    if (!gres)
        return 0;
    if (read_line (gres + strlen ("Gres "), &line, error) < 0)
        return -1;
    if (!strcmp (line.name, "shard"))
        take_shards (reading, &line);
    return strcmp (line.name, "gpu") ? 0
                                     : take_gpu (reading->table, &line, error);
}

int gres_table_parse (const char *text, size_t length, gres_table_t *ret_table,
                      gl_error_t *error)
{
    gres_table_t table = {0};
    reading_t reading = {.table = &table};
    char line[4096];
    int result = 0;

    for (size_t at = 0; at < length && result == 0;) {
        const char *newline = memchr (text + at, '\n', length - at);
        size_t size = newline ? (size_t)(newline - text) - at : length - at;

        snprintf (line, sizeof (line), "%.*s",
                  (int)(size < sizeof (line) ? size : sizeof (line) - 1),
                  text + at);
        if (size >= sizeof (line) && strstr (line, "Gres Name="))
            result = gl_error (error, "slurmd -G: a line is too long");
        else
            result = take_line (&reading, line, error);
        at += size + 1;
    }
    for (size_t i = 0; i < reading.shards_count; i++)
        give_shards (&table, &reading.shards[i]);
    free (reading.shards);
    if (result < 0) {
        gres_table_clear (&table);
        return -1;
    }
    if (*table.problem) {
        free (table.device);
        table.device = NULL;
        table.count = 0;
    }
    *ret_table = table;
    return 0;
}

/* ---------------------------------------------------------------- the file */

#define FIRST_LINE "gpuledger-gres 1"

static void put_table (buffer_t *text, const slurmd_t *slurmd,
                       const gres_table_t *table)
{
    buffer_add_text (text, FIRST_LINE "\n");
    buffer_printf (text, "slurmd %" PRId64 " %" PRId64 " %s\n", slurmd->pid,
                   slurmd->birth, slurmd->boot_id);
    if (*table->problem)
        buffer_printf (text, "problem %s\n", table->problem);
    for (size_t i = 0; i < table->count; i++) {
        const gres_device_t *device = &table->device[i];

        buffer_printf (text, "device %s %" PRIu64,
                       *device->type ? device->type : "-", device->shards);
        for (size_t f = 0; f < device->file_count; f++)
            buffer_printf (text, " %s", device->file[f]);
        buffer_add_char (text, '\n');
    }
}

int gres_table_save (const char *path, const slurmd_t *slurmd,
                     const gres_table_t *table, gl_error_t *error)
{
    const file_target_t file = {
        .at = AT_FDCWD,
        .name = path,
        .mode = 0600,
        .sync = FILE_WHOLE,
    };
    BUFFER_AUTO text = BUFFER_INIT;

    put_table (&text, slurmd, table);
    return file_replace (&file, path, text.data, text.length, error);
}

static int load_device (gres_table_t *table, char *words)
{
    gres_device_t *device = add_device (table);
    char *save, *word = strtok_r (words, " ", &save);

    if (!device || !word || strlen (word) >= sizeof (device->type))
        return -1;
    strcpy (device->type, strcmp (word, "-") ? word : "");
    word = strtok_r (NULL, " ", &save);
    if (!word || number_u64_text (word, &device->shards) < 0)
        return -1;
    while ((word = strtok_r (NULL, " ", &save)))
        if (take_file (device, word, NULL) < 0)
            return -1;
    return 0;
}

static int load_line (slurmd_t *slurmd, gres_table_t *table, char *line)
{
    if (!strncmp (line, "slurmd ", 7))
        return sscanf (line + 7, "%" SCNd64 " %" SCNd64 " %36s", &slurmd->pid,
                       &slurmd->birth, slurmd->boot_id)
                       == 3
                   ? 0
                   : -1;
    if (!strncmp (line, "problem ", 8)) {
        snprintf (table->problem, sizeof (table->problem), "%.255s", line + 8);
        return 0;
    }
    if (!strncmp (line, "device ", 7))
        return load_device (table, line + 7);
    return strcmp (line, FIRST_LINE) ? -1 : 0;
}

static int load_text (char *text, slurmd_t *slurmd, gres_table_t *table)
{
    char *save;

    if (strncmp (text, FIRST_LINE "\n", strlen (FIRST_LINE "\n")) != 0)
        return -1;
    for (char *line = strtok_r (text, "\n", &save); line;
         line = strtok_r (NULL, "\n", &save))
        if (load_line (slurmd, table, line) < 0)
            return -1;
    return 0;
}

int gres_table_load (const char *path, slurmd_t *ret_slurmd,
                     gres_table_t *ret_table, gl_error_t *error)
{
    slurmd_t slurmd = {0};
    gres_table_t table = {0};
    size_t size;
    GL_AUTOFREE char *text
        = file_read (AT_FDCWD, path, path, FILE_MAX, &size, error);

    if (!text)
        return errno == ENOENT ? 0 : -1;
    if (load_text (text, &slurmd, &table) < 0) {
        gres_table_clear (&table);
        return gl_error (error, "%s: not a list of slurmd's devices", path);
    }
    *ret_slurmd = slurmd;
    *ret_table = table;
    return 1;
}

/* -------------------------------------------------------------- all of it */

/* From the file that was kept, or from slurmd. */
static int get_table (const char *path, const slurmd_t *slurmd,
                      gres_table_t *ret_table, gl_error_t *error)
{
    slurmd_t kept;

    if (gres_table_load (path, &kept, ret_table, NULL) == 1) {
        if (slurmd_same (&kept, slurmd))
            return 0;
        gres_table_clear (ret_table);
    }
    if (gres_table_run (slurmd, GRES_TABLE_TIMEOUT_MS, ret_table, error) < 0)
        return -1;
    /* without the file the next agent asks slurmd again, no more */
    gres_table_save (path, slurmd, ret_table, error);
    return 0;
}

int gres_table_follow (const char *path, const char *node, slurmd_t *known,
                       gres_table_t *table, gl_error_t *error)
{
    slurmd_t slurmd;
    gres_table_t fresh = {0};
    int found;

    if (slurmd_alive (known))
        return 0;
    found = slurmd_find ("/proc", node, &slurmd, error);
    if (found <= 0)
        return found;
    if (get_table (path, &slurmd, &fresh, error) < 0)
        return -1;
    gres_table_clear (table);
    *table = fresh;
    *known = slurmd;
    return 1;
}
