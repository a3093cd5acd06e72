/*
 * Slurm's GRES notation and submit lines: where a job shows that it asked for
 * GPUs although its TRES names none (tres.h).
 */
#include <string.h>

#include "base/number.h"
#include "gres/tres.h"

/* Options of sbatch, srun and salloc that ask for GPUs whatever their value
 * (sbatch.1; a value of 0 asks for none). */
static const char *const gpu_options[] = {
    "--gpus", "--gpus-per-node", "--gpus-per-task", "--gpus-per-socket", "-G",
};

/* ... and those whose value names a GRES. */
static const char *const gres_options[] = {
    "--gres",          "--tres-per-job",    "--tres-per-node",
    "--tres-per-task", "--tres-per-socket",
};

static const char *const names[] = {"gpu", "mps", "shard"};

/* The value of an option at a word of the line, NULL if the word is another.
 * `--opt=V`, `--opt V`, `-GV`, `-G V`. */
static const char *option_value (const char *word, const char *option)
{
    size_t length = strlen (option);
    const char *p = word + length;

    if (strncmp (word, option, length) != 0)
        return NULL;
    if (*p == '=')
        return p + 1;
    if (*p == ' ')
        return p + strspn (p, " ");
    return option[1] != '-' && *p != '\0' ? p : NULL;
}

/* "gpu:2,nvme:1", "gres/gpu=4", "gres:gpu:1": a list with a GPU in it. */
static bool names_gpu (const char *value)
{
    size_t length = strcspn (value, " ");

    for (size_t i = 0; i < length;) {
        const char *item = value + i;
        if (strncmp (item, "gres/", 5) == 0 || strncmp (item, "gres:", 5) == 0)
            item += 5;
        for (size_t n = 0; n < sizeof (names) / sizeof (names[0]); n++) {
            size_t word = strlen (names[n]);
            if (strncmp (item, names[n], word) == 0
                && (strchr (":=, ", item[word]) != NULL))
                return true;
        }
        i += strcspn (value + i, ", ") + 1;
    }
    return false;
}

static bool word_asks (const char *word)
{
    const char *value;

    for (size_t i = 0; i < sizeof (gpu_options) / sizeof (gpu_options[0]);
         i++) {
        value = option_value (word, gpu_options[i]);
        if (value && *value && !(value[0] == '0' && strchr (" ", value[1])))
            return true;
    }
    for (size_t i = 0; i < sizeof (gres_options) / sizeof (gres_options[0]);
         i++) {
        value = option_value (word, gres_options[i]);
        if (value && names_gpu (value))
            return true;
    }
    return false;
}

bool gres_in_submit_line (const char *line)
{
    for (const char *p = line ? line : ""; *p;) {
        p += strspn (p, " ");
        if (*p == '-' && word_asks (p))
            return true;
        p += strcspn (p, " ");
    }
    return false;
}

/* "2", "1K"; the count of "gpu:h100:2" */
static bool is_count (const char *text, size_t length)
{
    size_t digits = strspn (text, "0123456789");

    return digits > 0
           && (digits >= length
               || (digits + 1 == length && strchr ("KM", text[digits])));
}

static int parse_count (const char *text, size_t length, uint64_t *ret_count,
                        gl_error_t *error)
{
    char suffix = text[length - 1];
    uint64_t factor = suffix == 'K' ? 1024 : suffix == 'M' ? 1024 * 1024 : 1;
    uint64_t count;

    if (number_u64 (text, factor > 1 ? length - 1 : length, &count) < 0
        || __builtin_mul_overflow (count, factor, ret_count))
        return gl_error (error, "count '%.*s' is beyond 64 bits",
                         (int)(length > 64 ? 64 : length), text);
    return 0;
}

/* NAME[:TYPE][:COUNT] without what stands in parentheses */
static int add_one (tres_t *tres, const char *item, size_t length,
                    gl_error_t *error)
{
    const char *name = item, *colon, *last;
    size_t word, whole = length;
    uint64_t count = 1;

    if (length > 5 && memcmp (item, "gres", 4) == 0
        && (item[4] == '/' || item[4] == ':')) {
        name += 5;
        whole -= 5;
    }
    colon = memchr (name, ':', whole);
    if (!colon)
        colon = memchr (name, '=', whole);
    word = colon ? (size_t)(colon - name) : whole;
    last = memrchr (name, ':', whole);
    if (!last || memrchr (name, '=', whole) > (void *)last)
        last = memrchr (name, '=', whole);
    if (last && is_count (last + 1, name + whole - last - 1)) {
        if (parse_count (last + 1, name + whole - last - 1, &count, error) < 0)
            return -1;
        whole = last - name;
    }
    if (word == 0)
        return gl_error (error, "'%.*s' is not NAME[:TYPE][:COUNT]",
                         (int)(length > 64 ? 64 : length), item);
    if (whole > word
        && tres_add_gres_name (tres, name, whole, count, error) < 0)
        return -1;
    return tres_add_gres_name (tres, name, word, count, error);
}

int tres_add_gres (tres_t *tres, const char *text, gl_error_t *error)
{
    for (const char *p = text; *p;) {
        size_t length = strcspn (p, ",(");
        if (length > 0 && add_one (tres, p, length, error) < 0)
            return gl_error_prefix (error, "GRES '%.200s'", text);
        p += length;
        if (*p == '(') {
            p += strcspn (p, ")");
            if (*p == '\0')
                return gl_error (error, "GRES '%.200s': '(' without ')'", text);
            p++;
        }
        p += *p == ',';
    }
    return 0;
}
