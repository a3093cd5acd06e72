/*
 * tres.h: Slurm's TRES text, and the GPU part of it.
 *
 * Slurm writes what a job holds as `NAME=COUNT,...` in two forms: names
 * ("billing=32,cpu=32,gres/gpu:a100=1,gres/gpu=1,mem=128G,node=1": sacct,
 * scontrol, JSON) and ids ("1=32,2=131072,4=1,1001=1": slurmdbd's database).
 * Counts are totals of the job, never per node, and the order means nothing.
 * A type may contain any of . - _ + so that only `,` `=` and the first `:`
 * separate. Counts from 0xfffffffffffffffd up mean "no value" and are skipped
 * (slurm.h: NO_VAL64, INFINITE64); sacct prints the latter as NONE.
 *
 * The GPU part (gpu, shard, mps) is kept as a text in canonical form, the same
 * for the same facts from every source: without "gres/", ordered by name
 * bytewise, each name once, "gpu=4,gpu:a100=4". Other GRES are left out.
 *
 * Threads: functions share nothing; a tres_t belongs to one thread.
 */
#ifndef GL_GRES_TRES_H
#define GL_GRES_TRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

#define TRES_UNKNOWN UINT64_MAX

/* No job holds more devices, shards or percents of one kind. Above it lies
 * damage, not a cluster; below it, devices times seconds fit 64 bits. */
#define GRES_COUNT_MAX 1000000000

/* The result of a parse, reused from call to call: TRES_INIT once, parse often,
 * tres_done once. A failed parse leaves it without meaning. */
typedef struct {
    uint64_t cpus;      /* or TRES_UNKNOWN */
    uint64_t memory_mb; /* or TRES_UNKNOWN */
    uint64_t nodes;     /* or TRES_UNKNOWN */
    const char *gres;   /* canonical, never NULL, "" without GPU; borrowed until
                           the next parse */
    size_t unresolved;  /* ids that the resolver did not know */
    bool gpu_without_count; /* a GPU is named, its count is "no value": the job
                               held some, and nobody knows how many */
    buffer_t text;
    struct tres_entry *entries;
    size_t count;
    size_t size;
} tres_t;

#define TRES_INIT                                                            \
    {                                                                        \
        TRES_UNKNOWN, TRES_UNKNOWN, TRES_UNKNOWN, "", 0, false, BUFFER_INIT, \
            NULL, 0, 0                                                       \
    }

/* What a TRES id of a database means: type "gres", name "gpu:a100" (name
 * "" or NULL where the type has none: cpu, mem). Returns false for an id that
 * it does not know. The strings must live until the parse returns. */
typedef bool (*tres_resolve_f) (uint64_t id, const char **ret_type,
                                const char **ret_name, void *arg);

/* Parse either form; NULL counts as "". Ids need `resolve` (else they are
 * unresolved). Amounts may carry K, M, G, T or P; mem counts MB without one.
 * The same name twice is added up. -1 for anything else than NAME=COUNT items,
 * for overflow and for a device count above GRES_COUNT_MAX. */
int tres_parse (tres_t *tres, const char *text, tres_resolve_f resolve,
                void *arg, gl_error_t *error);

/* The same from parts, for readers that get them one by one (JSON, a table of
 * node GRES): begin, add as often as needed, end. `name` may be NULL
 * and is borrowed until tres_end. */
void tres_begin (tres_t *tres);
int tres_add (tres_t *tres, const char *type, const char *name, uint64_t count,
              gl_error_t *error);
/* ... for type "gres", with a name that is not NUL-terminated. */
int tres_add_gres_name (tres_t *tres, const char *name, size_t length,
                        uint64_t count, gl_error_t *error);
void tres_end (tres_t *tres);

void tres_done (tres_t *tres);

/* One entry of a canonical text. type is NULL for the total ("gpu=4"). Not
 * NUL-terminated; points into the text. */
typedef struct {
    const char *name; /* "gpu", "shard", "mps" */
    size_t name_length;
    const char *type; /* "a100", "1g.10gb+me" */
    size_t type_length;
    uint64_t count;
} gres_item_t;

/* Walk a canonical text: start with *cursor = text; false at the end. */
bool gres_next (const char **cursor, gres_item_t *ret_item);

/*
 * The devices to be counted: one call for each type, bytewise, then one with
 * type NULL for devices whose type is unspecified. `gpu` is the total and
 * `gpu:TYPE` its breakdown; without a total the types are the total. shard and
 * mps are parts of a GPU that others hold too: see gres_parts().
 *
 * Types that add up to more than the total contradict it. The larger number,
 * that of the types, is counted, because an entry that is there was written by
 * an allocation, and *ret_contradiction (may be NULL) is set to be reported.
 *
 * Returns the number of devices, the sum of the counts handed over. `device`
 * may be NULL to have the number only.
 */
typedef void (*gres_device_f) (const char *type, size_t type_length,
                               uint64_t count, void *arg);
uint64_t gres_devices (const char *gres, gres_device_f device, void *arg,
                       bool *ret_contradiction);

/* The same for what is a part of a GPU, by its name: "shard" or "mps". 0 where
 * the text names any gpu: a job holds GPUs or parts of them, and where both are
 * named they are the same ones, so that parts are never counted in addition. */
uint64_t gres_parts (const char *gres, const char *name, gres_device_f device,
                     void *arg);

/* The text asks for or holds GPUs in any form: gpu, shard or mps above 0. */
bool gres_any (const char *gres);

/* What a job asked for, by name: a set. */
#define GRES_ASKED_GPU 1u
#define GRES_ASKED_SHARD 2u
#define GRES_ASKED_MPS 4u
#define GRES_ASKED_ANY (GRES_ASKED_GPU | GRES_ASKED_SHARD | GRES_ASKED_MPS)

/* The one that is named "gpu", "shard" or "mps"; 0 for any other name. */
unsigned gres_name_asked (const char *name, size_t length);

/* Of a list in the notation of --gres ("gpu:a100:2,nvme:1", "gres/shard=4"): a
 * count of 0 and any text that names no GPU ask for none. */
unsigned gres_list_asked (const char *list, size_t length);

/* Of a command line of sbatch, srun or salloc, as Slurm reads it: the options
 * up to the script or program, of each component of a het job. --gpus*, -G,
 * --gres, --tres-per-*; a later option replaces an earlier one of its name, and
 * 0 asks for none. The value of --wrap is a command, not options. NULL and what
 * is no such line ask for none. */
unsigned gres_in_submit_line (const char *line);

/* The words of an argument vector, a NUL behind each; the first one is the
 * program's name. */
typedef struct {
    const char *text;
    size_t size; /* with the last NUL; 0: no words */
} gres_words_t;

/* What one component of a job asks for, numbered from 0, by the words of
 * sbatch, srun or salloc. `before` has options that the command line replaces:
 * those of the script's directives and of the environment. A component that
 * `command` does not have asks for what is in `before`. */
unsigned gres_in_words (gres_words_t command, size_t component,
                        gres_words_t before);

/* The script of a command line of sbatch and the directory of --chdir (NULL:
 * none), both borrowed from the words. NULL: no script (--wrap, standard
 * input). */
const char *gres_script_of_words (gres_words_t command,
                                  const char **ret_directory);

/* Slurm's GRES notation, not TRES: "gpu:h100:2(IDX:0-1),gpu:1g.10gb:4(S:0)" of
 * scontrol, gres_detail, node lines, or "gres/gpu:h100:1" of tres_per_node.
 * Adds the counts (1 where none is given, K and M as 1024 and 1024 * 1024) to
 * `tres` between tres_begin and tres_end, each type together with the total.
 * Returns -1 for text that is not of this form. */
int tres_add_gres (tres_t *tres, const char *text, gl_error_t *error);

#endif /* !GL_GRES_TRES_H */
