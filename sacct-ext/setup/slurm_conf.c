#include "setup/slurm_conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

/* Slurm's own limit is 10. */
#define INCLUDES_MAX 10

/* --- where --------------------------------------------------------------- */

static char *next_to (const char *file, const char *name)
{
    const char *slash = strrchr (file, '/');

    return slash ? xasprintf ("%.*s/%s", (int)(slash - file), file, name)
                 : xstrdup (name);
}

char *slurm_conf_find (const char *name)
{
    static const char *const directories[]
        = {"/etc/slurm", "/run/slurm/conf", "/usr/local/etc",
           "/usr/local/etc/slurm", "/opt/slurm/etc"};
    const char *known = getenv ("SLURM_CONF");

    if (known && *known) {
        GL_AUTOFREE char *path = next_to (known, name);
        if (access (path, F_OK) == 0)
            return GL_TAKE (path);
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (directories); i++) {
        GL_AUTOFREE char *path = xasprintf ("%s/%s", directories[i], name);
        if (access (path, F_OK) == 0)
            return GL_TAKE (path);
    }
    return NULL;
}

/* --- one line ------------------------------------------------------------ */

/* The kinds of lines with DEFAULT lines that we read. */
enum { NODE, PARTITION, KINDS };
static const char *const kinds[KINDS] = {"NodeName", "PartitionName"};

struct reader {
    slurm_conf_t *conf;
    const char *file; /* the one that is read; belongs to conf */
    int number;       /* of the line */
    int depth;
    ssize_t *defaults; /* the last one of each kind so far; -1: none */
    gl_error_t *error;
};

/* Without the comment; "\#" is the character itself. */
static void cut_comment (char *line)
{
    char *to = line;

    for (const char *from = line; *from && *from != '#'; from++) {
        if (from[0] == '\\' && from[1] == '#')
            from++;
        *to++ = *from;
    }
    *to = '\0';
}

static const char *skip_blanks (const char *at)
{
    return at + strspn (at, " \t\r");
}

/* The value at *at, which is moved behind it. */
static char *take_value (const char **at)
{
    const char *begin = *at;
    size_t length;

    if (*begin == '"') {
        length = strcspn (++begin, "\"");
        *at = begin + length + (begin[length] == '"');
    } else {
        length = strcspn (begin, " \t\r");
        *at = begin + length;
    }
    return xstrndup (begin, length);
}

/* A word without '=' is skipped, as Slurm does with "DownNodes" and the like. */
static void add_pairs (slurm_line_t *line, const char *at)
{
    for (at = skip_blanks (at); *at; at = skip_blanks (at)) {
        size_t length = strcspn (at, "= \t\r+-*");
        const char *equal = skip_blanks (at + length);
        equal += *equal && strchr ("+-*", *equal);
        if (length == 0 || *equal != '=') {
            at += strcspn (at, " \t\r");
            continue;
        }
        slurm_pair_t *pair = GL_APPEND (line->pair, line->count);
        pair->key = xstrndup (at, length);
        at = skip_blanks (equal + 1);
        pair->value = take_value (&at);
    }
}

static int read_file (struct reader *reader, const char *path);

/* `name` with %c replaced by the name of the cluster. */
static char *include_path (const struct reader *reader, const char *name)
{
    const char *cluster = slurm_conf_value (reader->conf, "ClusterName");
    const char *mark = strstr (name, "%c");
    GL_AUTOFREE char *full
        = mark ? xasprintf ("%.*s%s%s", (int)(mark - name), name,
                            cluster ? cluster : "", mark + 2)
               : xstrdup (name);

    return full[0] == '/' ? GL_TAKE (full) : next_to (reader->conf->path, full);
}

static int read_included (struct reader *reader, const char *name)
{
    GL_AUTOFREE char *word = take_value (&name);
    GL_AUTOFREE char *path = include_path (reader, word);
    struct reader inner = *reader;

    if (reader->depth == INCLUDES_MAX)
        return gl_error (reader->error,
                         "%s:%d: more than %d include lines, one in another",
                         reader->file, reader->number, INCLUDES_MAX);
    inner.depth++;
    if (read_file (&inner, path) < 0)
        return gl_error_prefix (reader->error, "%s:%d: include", reader->file,
                                reader->number);
    return 0;
}

static bool is_default (const slurm_line_t *line)
{
    return !strcasecmp (line->pair[0].value, "DEFAULT");
}

static void add_line (struct reader *reader, slurm_line_t *line)
{
    slurm_conf_t *conf = reader->conf;

    line->defaults = -1;
    for (int i = 0; i < KINDS; i++) {
        if (strcasecmp (line->pair[0].key, kinds[i]) != 0)
            continue;
        line->defaults = reader->defaults[i];
        if (is_default (line))
            reader->defaults[i] = (ssize_t)conf->count;
    }
    *GL_APPEND (conf->line, conf->count) = *line;
}

static int read_line (struct reader *reader, char *text)
{
    slurm_line_t line = {.file = reader->file, .number = reader->number};
    const char *at;

    cut_comment (text);
    at = skip_blanks (text);
    if (!strncasecmp (at, "include", 7) && (at[7] == ' ' || at[7] == '\t'))
        return read_included (reader, skip_blanks (at + 7));
    add_pairs (&line, at);
    if (line.count)
        add_line (reader, &line);
    return 0;
}

/* --- files --------------------------------------------------------------- */

/* A line and those that it goes on in; *at is moved behind them. */
static void take_line (const char **at, buffer_t *line, int *lines)
{
    bool more = true;

    buffer_clear (line);
    while (more && **at) {
        size_t length = strcspn (*at, "\n");
        more = length > 0 && (*at)[length - 1] == '\\';
        buffer_add (line, *at, more ? length - 1 : length);
        *at += length + ((*at)[length] == '\n');
        ++*lines;
    }
}

static int read_text (struct reader *reader, const char *text)
{
    BUFFER_AUTO line = BUFFER_INIT;
    int lines = 0, rc = 0;

    while (rc == 0 && *text) {
        reader->number = lines + 1;
        take_line (&text, &line, &lines);
        GL_AUTOFREE char *copy = xstrdup (buffer_text (&line));
        rc = read_line (reader, copy);
    }
    return rc;
}

/* A link is followed: /etc/slurm is often one. */
static int read_file (struct reader *reader, const char *path)
{
    slurm_conf_t *conf = reader->conf;
    GL_AUTOFREE char *real = realpath (path, NULL);
    GL_AUTOFREE char *text = NULL;
    size_t size;

    if (!real)
        return gl_error (reader->error, "%s: %s", path, strerror (errno));
    text = file_read (AT_FDCWD, real, path, SLURM_CONF_MAX, &size,
                      reader->error);
    if (!text)
        return -1;
    reader->file = xstrdup (path);
    *GL_APPEND (conf->file, conf->file_count) = (char *)reader->file;
    return read_text (reader, text);
}

slurm_conf_t *slurm_conf_read (const char *path, gl_error_t *error)
{
    slurm_conf_t *conf = xcalloc (1, sizeof (*conf));
    ssize_t defaults[KINDS] = {-1, -1};
    struct reader reader = {.conf = conf, .defaults = defaults, .error = error};

    conf->path = xstrdup (path);
    if (read_file (&reader, path) == 0)
        return conf;
    slurm_conf_free (conf);
    return NULL;
}

static void free_line (slurm_line_t *line)
{
    for (size_t i = 0; i < line->count; i++) {
        free (line->pair[i].key);
        free (line->pair[i].value);
    }
    free (line->pair);
}

void slurm_conf_free (slurm_conf_t *conf)
{
    if (!conf)
        return;
    GL_FREE_EACH (conf->line, conf->count, line, free_line (line));
    GL_FREE_EACH (conf->file, conf->file_count, file, free (*file));
    free (conf->path);
    free (conf);
}

/* --- values -------------------------------------------------------------- */

const char *slurm_line_value (const slurm_line_t *line, const char *key)
{
    const slurm_pair_t *pair
        = GL_FIND (line->pair, line->count, it, !strcasecmp (it->key, key));

    return pair ? pair->value : NULL;
}

const char *slurm_line_effective (const slurm_conf_t *conf,
                                  const slurm_line_t *line, const char *key)
{
    const char *value = slurm_line_value (line, key);

    while (!value && line->defaults >= 0) {
        line = &conf->line[line->defaults];
        value = slurm_line_value (line, key);
    }
    return value;
}

bool slurm_line_is (const slurm_line_t *line, const char *kind)
{
    return !strcasecmp (line->pair[0].key, kind) && !is_default (line);
}

const char *slurm_conf_value (const slurm_conf_t *conf, const char *key)
{
    const char *value = NULL;

    for (size_t i = conf ? conf->count : 0; i-- > 0 && !value;)
        value = slurm_line_value (&conf->line[i], key);
    return value;
}
