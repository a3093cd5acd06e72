/* What a request asks for, in the words of sbatch. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "gres/tres.h"
#include "users/price_private.h"

/* More devices or nodes than any cluster has. */
#define COUNT_MAX 1000000
#define CPUS_MAX (COUNT_MAX * UINT64_C (1000))
#define MEMORY_MAX (UINT64_C (1) << 32) /* MB of a node, a CPU or a GPU */

/* --- time -------------------------------------------------------------- */

/* Up to `max` numbers separated by ':'; returns how many, -1 for others. */
static int colon_numbers (const char *text, int64_t *numbers, int max)
{
    int count = 0;

    for (const char *at = text;; count++) {
        size_t length = strcspn (at, ":");
        if (count == max || number_i64 (at, length, &numbers[count]) < 0
            || numbers[count] < 0
            || numbers[count] > PRICE_DAYS_MAX * INT64_C (86400))
            return -1;
        if (at[length] == '\0')
            return count + 1;
        at += length + 1;
    }
}

int price_time (const char *text, int64_t *ret_seconds, gl_error_t *error)
{
    /* seconds of each number, by how many there are; after "DAYS-" the first
     * one is hours, else of one or two minutes */
    static const int64_t after_days[3] = {3600, 60, 1};
    static const int64_t short_form[3] = {60, 1, 0};
    const char *dash = strchr (text, '-');
    GL_AUTOFREE char *days_text = dash ? xstrndup (text, dash - text) : NULL;
    int64_t number[3], days = 0, seconds;
    const int64_t *unit = after_days;
    int count = colon_numbers (dash ? dash + 1 : text, number, 3);

    if (!strcasecmp (text, "UNLIMITED") || !strcasecmp (text, "INFINITE"))
        return gl_error (error,
                         "'%s' has no total: leave the time out for the price "
                         "of an hour",
                         text);
    if (count < 0
        || (dash
            && (number_i64_text (days_text, &days) < 0 || days < 0
                || days > PRICE_DAYS_MAX)))
        return gl_error (error,
                         "'%s' is not a time in Slurm's form: "
                         "MINUTES[:SECONDS], HOURS:MINUTES:SECONDS or "
                         "DAYS-HOURS[:MINUTES[:SECONDS]]",
                         text);
    if (!dash && count < 3)
        unit = short_form;
    seconds = days * 86400;
    for (int i = 0; i < count; i++)
        seconds += number[i] * unit[i];
    if (seconds <= 0 || seconds > PRICE_DAYS_MAX * INT64_C (86400))
        return gl_error (error, "the time '%s' cannot be priced", text);
    *ret_seconds = seconds;
    return 0;
}

/* --- what is asked for ------------------------------------------------- */

void price_request_clear (price_request_t *r)
{
    GL_FREE_EACH (r->item, r->count, it, free (it->type));
}

static int too_many (gl_error_t *error)
{
    return gl_error (error, "no cluster has so many GPUs");
}

static bool is_type (const price_item_t *item, const char *type, size_t length)
{
    return item->type ? length == strlen (item->type)
                            && strncmp (item->type, type, length) == 0
                      : length == 0;
}

static int add_item (price_request_t *r, const char *type, size_t length,
                     uint64_t devices, gl_error_t *error)
{
    if (devices > COUNT_MAX)
        return too_many (error);
    if (devices == 0)
        return 0;
    for (size_t i = 0; i < r->count; i++) {
        if (is_type (&r->item[i], type, length)) {
            r->item[i].devices += devices;
            return 0;
        }
    }
    *GL_APPEND (r->item, r->count) = (price_item_t){
        .type = length ? xstrndup (type, length) : NULL, .devices = devices};
    return 0;
}

/* "[TYPE:]N" or "TYPE" (one of it); a type may hold anything but ':' and
 * ','. */
static int take_count (price_request_t *r, const char *text, size_t length,
                       gl_error_t *error)
{
    const char *colon = memrchr (text, ':', length);
    size_t type_length = colon ? (size_t)(colon - text) : 0;
    const char *digits = colon ? colon + 1 : text;
    uint64_t count;

    if (number_u64 (digits, (size_t)(text + length - digits), &count) == 0)
        return add_item (r, text, type_length, count, error);
    if (colon || length == 0)
        return gl_error (error,
                         "'%.*s' is not a number of GPUs: write "
                         "[TYPE:]NUMBER",
                         (int)length, text);
    return add_item (r, text, length, 1, error);
}

static bool starts_word (const char *text, size_t length, const char *word)
{
    size_t n = strlen (word);

    return length >= n && strncmp (text, word, n) == 0
           && (length == n || text[n] == ':');
}

/* One of --gres: "gpu", "gpu:4", "gpu:h100:4"; other GRES cost nothing. */
static int take_gres (price_request_t *r, const char *text, size_t length,
                      gl_error_t *error)
{
    if (length > 5 && strncmp (text, "gres/", 5) == 0) {
        text += 5;
        length -= 5;
    }
    if (starts_word (text, length, "shard")
        || starts_word (text, length, "mps"))
        r->parts = true;
    if (!starts_word (text, length, "gpu"))
        return 0;
    return length == 3 ? add_item (r, "", 0, 1, error)
                       : take_count (r, text + 4, length - 4, error);
}

static int each_word (price_request_t *r, const char *list,
                      int (*take) (price_request_t *r, const char *text,
                                   size_t length, gl_error_t *error),
                      gl_error_t *error)
{
    for (const char *at = list;; at++) {
        size_t length = strcspn (at, ",");
        if (take (r, at, length, error) < 0)
            return -1;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

/* "4", and Slurm's "1k". */
static int take_number (const char *text, size_t length, uint64_t *ret_number)
{
    uint64_t factor = 1;

    if (length > 1 && (text[length - 1] == 'k' || text[length - 1] == 'K')) {
        factor = 1024;
        length--;
    }
    if (number_u64 (text, length, ret_number) < 0 || *ret_number == 0
        || *ret_number > COUNT_MAX / factor)
        return -1;
    *ret_number *= factor;
    return 0;
}

/* N, or MIN-MAX, of which the job may get the lower. */
static int take_nodes (price_request_t *r, const char *text, gl_error_t *error)
{
    size_t length = strcspn (text, "-");
    const char *most = text[length] ? text + length + 1 : text;

    if (take_number (text, length, &r->nodes) < 0
        || take_number (most, strlen (most), &r->nodes_most) < 0
        || r->nodes_most < r->nodes)
        return gl_error (
            error, "'%s' is not a number of nodes: write N or MIN-MAX", text);
    return 0;
}

/* ---- which GPUs ---- */

static int of_each_node (price_request_t *r, gl_error_t *error)
{
    for (size_t i = 0; i < r->count; i++) {
        price_item_t *item = &r->item[i];
        item->per_node = item->devices;
        if (item->per_node * r->nodes > COUNT_MAX)
            return too_many (error);
        item->devices = item->per_node * r->nodes;
    }
    return 0;
}

/* Slurm gives each node of a job at least one GPU of each type. */
static int of_the_job (price_request_t *r, gl_error_t *error)
{
    for (size_t i = 0; i < r->count; i++) {
        price_item_t *item = &r->item[i];
        if (item->devices < r->nodes)
            return gl_error (error,
                             "%" PRIu64 " GPUs%s%s are fewer than %" PRIu64
                             " nodes: sbatch wants one or more on each",
                             item->devices, item->type ? " of type " : "",
                             item->type ? item->type : "", r->nodes);
        if (r->nodes_most == 1)
            item->per_node = item->devices;
    }
    return 0;
}

/* --gpus with --gpus-per-node (or --gres) says how many nodes: the same types
 * in both, and as many times. */
static int of_both (price_request_t *r, const price_request_t *job,
                    const price_words_t *words, gl_error_t *error)
{
    uint64_t nodes = 0;

    for (size_t i = 0; i < job->count; i++) {
        const price_item_t *of_job = &job->item[i];
        const char *type = of_job->type ? of_job->type : "";
        const price_item_t *of_node = NULL;
        for (size_t k = 0; k < r->count; k++)
            if (is_type (&r->item[k], type, strlen (type)))
                of_node = &r->item[k];
        if (!of_node || job->count != r->count
            || of_job->devices % of_node->devices != 0
            || (nodes && of_job->devices / of_node->devices != nodes))
            return gl_error (
                error,
                "--gpus=%s is not a multiple of the GPUs of a node, "
                "%s: give the same types, or one of the two",
                words->gpus, words->gres ? words->gres : words->gpus_per_node);
        nodes = of_job->devices / of_node->devices;
    }
    if (words->nodes && (nodes < r->nodes || nodes > r->nodes_most))
        return gl_error (error,
                         "--gpus=%s with %s on each node are %" PRIu64
                         " nodes, not --nodes=%s",
                         words->gpus,
                         words->gres ? words->gres : words->gpus_per_node,
                         nodes, words->nodes);
    r->nodes = r->nodes_most = nodes;
    return of_each_node (r, error);
}

static int needs_gpus (const price_request_t *r, gl_error_t *error)
{
    if (r->count > 0)
        return 0;
    return gl_error (error, r->parts
                                ? "shards and MPS have no price of their own"
                                : "the request asks for no GPU");
}

static int read_gpus (price_request_t *r, const price_words_t *words,
                      gl_error_t *error)
{
    const char *of_node = words->gres ? words->gres : words->gpus_per_node;
    price_request_t job = {.nodes = 1};
    int rc;

    if ((!of_node && !words->gpus) || (words->gres && words->gpus_per_node))
        return gl_error (error, "say which GPUs by --gres=gpu:TYPE:N or "
                                "--gpus-per-node=[TYPE:]N, --gpus=[TYPE:]N, or "
                                "by --gpus and one of the others");
    if (!of_node) {
        rc = each_word (r, words->gpus, take_count, error);
        if (rc == 0)
            rc = needs_gpus (r, error);
        return rc == 0 ? of_the_job (r, error) : rc;
    }
    rc = each_word (r, of_node, words->gres ? take_gres : take_count, error);
    if (rc == 0)
        rc = needs_gpus (r, error);
    if (rc < 0 || !words->gpus)
        return rc < 0 ? rc : of_each_node (r, error);
    rc = each_word (&job, words->gpus, take_count, error);
    if (rc == 0)
        rc = needs_gpus (&job, error);
    if (rc == 0)
        rc = of_both (r, &job, words, error);
    price_request_clear (&job);
    return rc;
}

/* ---- CPUs and memory ---- */

static int take_option (const char *option, const char *text,
                        uint64_t *ret_number, gl_error_t *error)
{
    if (!text || take_number (text, strlen (text), ret_number) == 0)
        return 0;
    return gl_error (error, "--%s=%s is not a number", option, text);
}

/* 128G, or MB. */
static int take_memory (const char *option, const char *text, uint64_t *ret_mb,
                        gl_error_t *error)
{
    GL_AUTOFREE char *amount = xasprintf ("mem=%s", text);
    tres_t tres = TRES_INIT;
    int rc = 0;

    if (strcspn (text, ",=") != strlen (text)
        || tres_parse (&tres, amount, NULL, NULL, NULL) < 0
        || tres.memory_mb == TRES_UNKNOWN || tres.memory_mb == 0
        || tres.memory_mb > MEMORY_MAX)
        rc = gl_error (error, "--%s=%s is not an amount of memory: write 128G",
                       option, text);
    *ret_mb = tres.memory_mb;
    tres_done (&tres);
    return rc;
}

static uint64_t count_gpus (const price_request_t *r)
{
    uint64_t gpus = 0;

    for (size_t i = 0; i < r->count; i++)
        gpus += r->item[i].devices;
    return gpus;
}

/* As sbatch: a task of one CPU on each node where nothing else is said. */
static int read_cpus (price_request_t *r, const price_words_t *w,
                      gl_error_t *error)
{
    uint64_t tasks = r->nodes, on_node = 0, of_task = 1, of_gpu = 0;

    if (take_option ("ntasks-per-node", w->ntasks_per_node, &on_node, error) < 0
        || take_option ("cpus-per-task", w->cpus_per_task, &of_task, error) < 0
        || take_option ("cpus-per-gpu", w->cpus_per_gpu, &of_gpu, error) < 0)
        return -1;
    if (on_node)
        tasks = on_node * r->nodes;
    if (take_option ("ntasks", w->ntasks, &tasks, error) < 0)
        return -1;
    if (of_gpu)
        r->cpus = of_gpu * count_gpus (r);
    else if (w->ntasks || on_node || w->cpus_per_task || w->mem_per_cpu)
        r->cpus = tasks * of_task;
    if (r->cpus != COUNT_UNKNOWN && (r->cpus == 0 || r->cpus > CPUS_MAX))
        return gl_error (error, "no cluster has such a number of CPUs");
    return 0;
}

static int read_memory (price_request_t *r, const price_words_t *w,
                        gl_error_t *error)
{
    const struct {
        const char *option, *text;
        uint64_t times;
    } words[] = {{"mem", w->mem, r->nodes},
                 {"mem-per-cpu", w->mem_per_cpu, r->cpus},
                 {"mem-per-gpu", w->mem_per_gpu, count_gpus (r)}};
    uint64_t mb;

    for (size_t i = 0; i < GL_ARRAY_SIZE (words); i++) {
        if (!words[i].text)
            continue;
        if (r->memory_mb != COUNT_UNKNOWN)
            return gl_error (error, "--mem, --mem-per-cpu and --mem-per-gpu "
                                    "exclude one another");
        if (take_memory (words[i].option, words[i].text, &mb, error) < 0)
            return -1;
        r->memory_mb = mb * words[i].times;
    }
    return 0;
}

/* CPUs alone are a request too. */
static bool wants_gpus (const price_words_t *w)
{
    return w->gres || w->gpus || w->gpus_per_node
           || !(w->ntasks || w->ntasks_per_node || w->cpus_per_task);
}

int price_request_read (price_request_t *r, const price_words_t *words,
                        gl_error_t *error)
{
    *r = (price_request_t){
        .nodes = 1, .cpus = COUNT_UNKNOWN, .memory_mb = COUNT_UNKNOWN};
    if ((words->nodes && take_nodes (r, words->nodes, error) < 0)
        || (words->time && price_time (words->time, &r->seconds, error) < 0))
        return -1;
    if (wants_gpus (words) && read_gpus (r, words, error) < 0)
        return -1;
    return read_cpus (r, words, error) < 0 || read_memory (r, words, error) < 0
               ? -1
               : 0;
}
