/*
 * JSON files, one job at a time: the list of jobs may be larger than memory, so
 * this scanner finds where each job begins and ends, and jansson parses the
 * job. Integers from 2^63 up, which Slurm writes for "no value" and SLUIDs and
 * jansson refuses, are put into quotes on the way; json_number_of() reads both.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/utf8.h"
#include "import/import_json.h"

/* The longest job with its steps, and the longest envelope without its jobs. A
 * step takes some 3 KiB and Slurm allows 40,000 of them by default
 * (slurm.conf.5, MaxStepCount). */
#define VALUE_MAX (256 * 1024 * 1024)

typedef struct {
    import_t *import;
    source_t *source;
    buffer_t outer; /* the envelope without its jobs */
    buffer_t value; /* the current job */
    bool has_jobs;  /* the envelope has a list of jobs */
} scanner_t;

static int syntax_error (scanner_t *s, const char *what, gl_error_t *error)
{
    return gl_error (error, "%s:%llu: broken JSON: %s", source_name (s->source),
                     (unsigned long long)source_line_number (s->source), what);
}

/* `c` is where something else should be. */
static int unexpected (scanner_t *s, int c, const char *missing,
                       gl_error_t *error)
{
    if (c == SOURCE_ERROR)
        return -1;
    return syntax_error (
        s, c == SOURCE_END ? "it ends in the middle; cut off?" : missing,
        error);
}

/* The next byte that is no white space, left unread; SOURCE_END at the end. */
static int skip_space (scanner_t *s, gl_error_t *error)
{
    int c;

    while ((c = source_peek (s->source, error)) == ' ' || c == '\t' || c == '\n'
           || c == '\r')
        source_byte (s->source, error);
    return c;
}

static int next_byte (scanner_t *s, buffer_t *to, gl_error_t *error)
{
    int c = source_byte (s->source, error);

    if (c < 0)
        return unexpected (s, c, "", error);
    if (c == '\0')
        return syntax_error (s, "a NUL byte", error);
    if (to->length == VALUE_MAX)
        return syntax_error (s, "a value of more than 256 MiB", error);
    return c;
}

/* Bytes that jansson refuses in a string: control characters, and what is no
 * UTF-8. sacct copies both from the names that users choose. */
static bool string_is_clean (const char *text)
{
    int32_t code;

    while (*text) {
        text += utf8_decode (text, &code);
        if (code < 0x20)
            return false;
    }
    return true;
}

static void clean_string (scanner_t *s, buffer_t *to, size_t start)
{
    BUFFER_AUTO dirty = BUFFER_INIT;

    if (string_is_clean (to->data + start))
        return;
    s->import->stats.replaced++;
    buffer_add (&dirty, to->data + start, to->length - start);
    to->length = start;
    for (const char *p = buffer_text (&dirty); *p;) {
        int32_t code;
        size_t n = utf8_decode (p, &code);
        if (code < 0x20)
            buffer_add_text (to, UTF8_REPLACEMENT);
        else
            buffer_add (to, p, n);
        p += n;
    }
}

/* The opening quote has been read and added. */
static int copy_string (scanner_t *s, buffer_t *to, gl_error_t *error)
{
    size_t start = to->length;
    bool escaped = false;

    for (;;) {
        int c = next_byte (s, to, error);
        if (c < 0)
            return -1;
        buffer_add_char (to, (char)c);
        if (c == '"' && !escaped) {
            clean_string (s, to, start);
            return 0;
        }
        escaped = c == '\\' && !escaped;
    }
}

static bool fits_jansson (const char *text, size_t length)
{
    int64_t value;

    return number_i64 (text, length, &value) == 0;
}

/* A number begins with `first`. */
static int copy_number (scanner_t *s, buffer_t *to, int first,
                        gl_error_t *error)
{
    size_t start = to->length, length;
    bool integer = true;
    int c;

    buffer_add_char (to, (char)first);
    while ((c = source_peek (s->source, error)) > 0
           && strchr ("0123456789+-.eE", c)) {
        integer &= c >= '0' && c <= '9';
        buffer_add_char (to, (char)c);
        source_byte (s->source, error);
        if (to->length - start > 1000)
            return syntax_error (s, "a number of more than 1000 digits", error);
    }
    if (c == SOURCE_ERROR)
        return -1;
    length = to->length - start;
    if (integer && length > 18 && !fits_jansson (to->data + start, length)) {
        buffer_reserve (to, 2);
        memmove (to->data + start + 1, to->data + start, length);
        to->data[start] = '"';
        to->data[start + 1 + length] = '"';
        to->length += 2;
        to->data[to->length] = '\0';
    }
    return 0;
}

/* A whole value. Its syntax is jansson's to judge; here only strings, numbers
 * and the balance of brackets matter. */
static int copy_value (scanner_t *s, buffer_t *to, gl_error_t *error)
{
    size_t depth = 0;

    if (skip_space (s, error) == SOURCE_ERROR)
        return -1;
    do {
        int c = next_byte (s, to, error);
        if (c < 0)
            return -1;
        if ((c >= '0' && c <= '9') || c == '-') {
            if (copy_number (s, to, c, error) < 0)
                return -1;
        } else {
            buffer_add_char (to, (char)c);
            if (c == '"' && copy_string (s, to, error) < 0)
                return -1;
        }
        depth += c == '{' || c == '[';
        if (c == '}' || c == ']') {
            if (depth == 0)
                return syntax_error (s, "a bracket too many", error);
            depth--;
        }
        /* true, false, null */
        while (depth == 0 && c >= 'a' && c <= 'z'
               && (c = source_peek (s->source, error)) >= 'a' && c <= 'z')
            buffer_add_char (to, (char)source_byte (s->source, error));
    } while (depth > 0);
    return 0;
}

static json_t *parse_value (scanner_t *s, const buffer_t *text,
                            gl_error_t *error)
{
    json_error_t why;
    json_t *value
        = json_loadb (buffer_text (text), text->length, JSON_DECODE_ANY, &why);

    if (!value)
        syntax_error (s, why.text, error);
    return value;
}

static int read_job (scanner_t *s, gl_error_t *error)
{
    json_t *job;
    int rc;

    buffer_clear (&s->value);
    if (copy_value (s, &s->value, error) < 0
        || !(job = parse_value (s, &s->value, error)))
        return -1;
    s->import->stats.rows++;
    rc = import_json_job (s->import, job, error);
    if (rc < 0)
        gl_error_prefix (error, "%s:%llu", source_name (s->source),
                         (unsigned long long)source_line_number (s->source));
    json_decref (job);
    return rc;
}

/* At '['. */
static int read_jobs (scanner_t *s, gl_error_t *error)
{
    int c;

    s->has_jobs = true;
    source_byte (s->source, error);
    if ((c = skip_space (s, error)) == ']') {
        source_byte (s->source, error);
        return 0;
    }
    do {
        if (read_job (s, error) < 0)
            return -1;
        if ((c = skip_space (s, error)) >= 0)
            source_byte (s->source, error);
    } while (c == ',');
    return c == ']' ? 0 : unexpected (s, c, "',' or ']' is missing", error);
}

/* A member of the envelope; at its name. */
static int read_member (scanner_t *s, gl_error_t *error)
{
    size_t start = s->outer.length;
    bool jobs;
    int c;

    if ((c = skip_space (s, error)) != '"')
        return unexpected (s, c, "the name of a member is missing", error);
    if (copy_value (s, &s->outer, error) < 0)
        return -1;
    jobs = strcmp (s->outer.data + start, "\"jobs\"") == 0;
    if ((c = skip_space (s, error)) != ':')
        return unexpected (s, c, "':' is missing", error);
    buffer_add_char (&s->outer, (char)source_byte (s->source, error));
    if (skip_space (s, error) == '[' && jobs) {
        buffer_add_text (&s->outer, "[]");
        return read_jobs (s, error);
    }
    return copy_value (s, &s->outer, error);
}

/* At '{': the text of the object without its jobs is in s->outer after. */
static int read_object (scanner_t *s, gl_error_t *error)
{
    int c;

    buffer_clear (&s->outer);
    buffer_add_char (&s->outer, (char)source_byte (s->source, error));
    if (skip_space (s, error) == '}') {
        buffer_add_char (&s->outer, (char)source_byte (s->source, error));
        return 0;
    }
    do {
        if (read_member (s, error) < 0)
            return -1;
        if ((c = skip_space (s, error)) >= 0)
            buffer_add_char (&s->outer, (char)source_byte (s->source, error));
    } while (c == ',');
    return c == '}' ? 0 : unexpected (s, c, "',' or '}' is missing", error);
}

/* slurmrestd answers mistakes with "errors"; what it could not tell is then
 * missing from the jobs. */
static int check_errors (const json_t *envelope, gl_error_t *error)
{
    const json_t *errors = json_object_get (envelope, "errors"), *first, *text;

    if (json_array_size (errors) == 0)
        return 0;
    first = json_array_get (errors, 0);
    text = json_object_get (first, "description");
    if (!json_is_string (text))
        text = json_object_get (first, "error");
    return gl_error (error,
                     "the answer has an error, so jobs may be missing: "
                     "%.200s; ask Slurm again",
                     json_is_string (text) ? json_string_value (text)
                                           : "without description");
}

/* What the envelope knows in addition to its jobs: its cluster, and (slurmctld)
 * when it was made. */
static void read_envelope (import_t *import, const json_t *envelope)
{
    const json_t *meta = json_object_get (envelope, "meta");
    const json_t *slurm = json_object_get (meta, "slurm");
    const char *cluster;
    uint64_t update;

    if (!slurm)
        slurm = json_object_get (meta, "Slurm"); /* up to v0.0.39 */
    cluster = json_string_value (json_object_get (slurm, "cluster"));
    if (cluster && *cluster) {
        free (import->envelope_cluster);
        import->envelope_cluster = xstrdup (cluster);
    }
    if (json_number_of (json_object_get (envelope, "last_update"), &update)
        && update < UINT32_MAX && (int64_t)update > import->newest) {
        import->newest = (int64_t)update;
        import->stats.newest_job = 0;
    }
}

/* An object at the top: an envelope, or a job of its own. */
static int finish_object (scanner_t *s, gl_error_t *error)
{
    json_t *object = parse_value (s, &s->outer, error);
    int rc = -1;

    if (!object)
        return -1;
    if (json_object_get (object, "job_id")) {
        s->import->stats.rows++;
        rc = import_json_job (s->import, object, error);
    } else if (check_errors (object, error) == 0) {
        read_envelope (s->import, object);
        rc = s->has_jobs
                 ? 0
                 : gl_error (error, "an object with neither \"jobs\" nor "
                                    "\"job_id\": not the JSON of sacct or of "
                                    "slurmrestd's jobs");
    }
    if (rc < 0)
        gl_error_prefix (error, "%s:%llu", source_name (s->source),
                         (unsigned long long)source_line_number (s->source));
    json_decref (object);
    return rc;
}

static int read_top (scanner_t *s, gl_error_t *error)
{
    int c;

    while ((c = skip_space (s, error)) != SOURCE_END) {
        if (c == SOURCE_ERROR)
            return -1;
        s->has_jobs = false;
        if (c == '[') {
            if (read_jobs (s, error) < 0)
                return -1;
        } else if (c != '{') {
            return syntax_error (s, "'{' or '[' is missing", error);
        } else if (read_object (s, error) < 0 || finish_object (s, error) < 0) {
            return -1;
        }
    }
    return 0;
}

int import_read_json (import_t *import, gl_error_t *error)
{
    scanner_t s = {.import = import,
                   .source = import->source,
                   .outer = BUFFER_INIT,
                   .value = BUFFER_INIT};
    int rc = read_top (&s, error);

    buffer_done (&s.outer);
    buffer_done (&s.value);
    return rc;
}
