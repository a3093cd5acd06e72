#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gres/tres.h"

#include "request.h"

/* A longer command line or script is read in part. */
#define READ_MAX (64 * 1024)
#define DIRECTIVE "#SBATCH"

/* At most `size` bytes; -1: not to be read. Never waits: of what is no regular
 * file sbatch has read all there was. */
static ssize_t read_file (const char *path, char *buffer, size_t size)
{
    int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    ssize_t got = -1;
    size_t used = 0;

    if (fd < 0)
        return -1;
    if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode)) {
        do {
            got = read (fd, buffer + used, size - used);
            used += got > 0 ? (size_t)got : 0;
        } while (got > 0 && used < size);
    }
    close (fd);
    return got < 0 ? -1 : (ssize_t)used;
}

/* Our own command line; a word that is cut at the end is left out. */
static bool read_command (char buffer[READ_MAX], gres_words_t *ret_words)
{
    ssize_t size = read_file ("/proc/self/cmdline", buffer, READ_MAX);

    while (size > 0 && buffer[size - 1] != '\0')
        size--;
    *ret_words = (gres_words_t){buffer, size > 0 ? (size_t)size : 0};
    return size > 0;
}

bool request_names_a_job (void)
{
    char buffer[READ_MAX];
    gres_words_t words;

    if (!read_command (buffer, &words))
        return true;
    for (size_t at = 0; at < words.size; at += strlen (words.text + at) + 1) {
        if (strncmp (words.text + at, "--jobi", 6) == 0)
            return true;
    }
    return false;
}

/* --- options that the command line replaces --- */

typedef struct {
    char text[READ_MAX];
    size_t size;
} words_t;

/* A word that does not fit is left out. */
static void add_word (words_t *words, const char *option, const char *value,
                      size_t length)
{
    size_t before = strlen (option);

    if (before + length >= sizeof (words->text) - words->size)
        return;
    memcpy (words->text + words->size, option, before);
    memcpy (words->text + words->size + before, value, length);
    words->size += before + length + 1;
    words->text[words->size - 1] = '\0';
}

static void add_environment (words_t *words, const char *prefix)
{
    static const struct {
        const char *name, *option;
    } defaults[] = {
        {"GRES", "--gres="},
        {"GPUS", "--gpus="},
        {"GPUS_PER_NODE", "--gpus-per-node="},
        {"GPUS_PER_SOCKET", "--gpus-per-socket="},
        {"GPUS_PER_TASK", "--gpus-per-task="},
        {"TRES_PER_TASK", "--tres-per-task="},
    };

    for (size_t i = 0; i < sizeof (defaults) / sizeof (defaults[0]); i++) {
        char name[64];
        const char *value;
        snprintf (name, sizeof (name), "%s%s", prefix, defaults[i].name);
        value = getenv (name);
        if (value)
            add_word (words, defaults[i].option, value, strlen (value));
    }
}

/* The next word of a directive as sbatch reads it, with quotes and backslashes
 * taken out in place; NULL at the end or at a comment. */
static char *next_argument (char **cursor)
{
    char *at = *cursor + strspn (*cursor, " \t\r\v\f"), *word = at, *to = at;
    char quote = '\0';

    if (*at == '\0' || *at == '#')
        return NULL;
    for (; *at && (quote || !isspace ((unsigned char)*at)); at++) {
        if (*at == '\\' && at[1])
            *to++ = *++at;
        else if (quote ? *at == quote : *at == '"' || *at == '\'')
            quote = quote ? '\0' : *at;
        else
            *to++ = *at;
    }
    *cursor = *at ? at + 1 : at;
    *to = '\0';
    return word;
}

/* One line behind "#SBATCH"; `hetjob` begins the next component. */
static void read_directive (char *line, size_t component, size_t *number,
                            words_t *words)
{
    char *word;

    while ((word = next_argument (&line))) {
        if (strcmp (word, "hetjob") == 0 || strcmp (word, "packjob") == 0)
            ++*number;
        else if (*number == component)
            add_word (words, "", word, strlen (word));
    }
}

/* sbatch reads up to the first line that is a command. */
static void add_script (words_t *words, const char *path, size_t component)
{
    char body[READ_MAX];
    ssize_t size = read_file (path, body, sizeof (body) - 1);
    size_t number = 0;
    char *line = body, *next;

    if (size < 2 || memcmp (body, "#!", 2) != 0)
        return;
    body[size] = '\0';
    for (; line; line = next) {
        next = strchr (line, '\n');
        if (next)
            *next++ = '\0';
        if (strncmp (line, DIRECTIVE, strlen (DIRECTIVE)) == 0)
            read_directive (line + strlen (DIRECTIVE), component, &number,
                            words);
        else if (!strchr ("#", line[strspn (line, " \t\r\v\f")]))
            return;
    }
}

/* --- the script of sbatch --- */

static bool try_script (char path[PATH_MAX], const char *directory,
                        size_t length, const char *name)
{
    int n = snprintf (path, PATH_MAX, "%.*s/%s", (int)length, directory, name);
    struct stat st;

    return n < PATH_MAX && stat (path, &st) == 0 && S_ISREG (st.st_mode)
           && access (path, R_OK) == 0;
}

/* sbatch looks in --chdir or the working directory, in PATH, and then takes the
 * name as it is. */
static const char *find_script (char path[PATH_MAX], const char *name,
                                const char *directory)
{
    const char *at = getenv ("PATH");
    size_t length;

    if (name[0] == '/' || name[0] == '.')
        return name;
    if (!directory)
        directory = ".";
    if (try_script (path, directory, strlen (directory), name))
        return path;
    for (; at && *at; at += length + (at[length] == ':')) {
        length = strcspn (at, ":");
        if (length > 0 && length < PATH_MAX
            && try_script (path, at, length, name))
            return path;
    }
    return name;
}

/* "/usr/bin/salloc" */
static bool is_program (gres_words_t command, const char *name)
{
    const char *slash = strrchr (command.text, '/');

    return strncmp (slash ? slash + 1 : command.text, name, strlen (name)) == 0;
}

static void add_batch (words_t *words, gres_words_t command, size_t component)
{
    const char *directory = NULL;
    const char *script = gres_script_of_words (command, &directory);
    char path[PATH_MAX];

    if (script)
        add_script (words, find_script (path, script, directory), component);
    add_environment (words, "SBATCH_");
}

bool request_asks_for_gpus (size_t component)
{
    char buffer[READ_MAX];
    words_t before = {.size = 0};
    gres_words_t command;

    if (!read_command (buffer, &command))
        return false;
    add_word (&before, "defaults", "", 0);
    if (is_program (command, "srun"))
        add_environment (&before, "SLURM_");
    else if (is_program (command, "salloc"))
        add_environment (&before, "SALLOC_");
    else
        add_batch (&before, command, component);
    return gres_in_words (command, component,
                          (gres_words_t){before.text, before.size})
           != 0;
}
