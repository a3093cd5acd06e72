/*
 * schema.h: the one table of everything that gpuledger.yaml may say.
 *
 * A kind is a key of the file's top level: one mapping (ledger, policy) or a
 * list of entries (pools, assets, ...). A key belongs to a kind. The parser,
 * the commented default file and the manual are made from this table.
 */
#ifndef GL_CONFIG_SCHEMA_H
#define GL_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    VALUE_TEXT,         /* char *                                       */
    VALUE_LIST,         /* text_list_t: a list, or one text             */
    VALUE_PATH,         /* char *: absolute                             */
    VALUE_NAME,         /* char *: a node or a cluster                  */
    VALUE_NODES,        /* char *: as Slurm writes them                 */
    VALUE_NETWORK,      /* char *: 10.1.0.0/16                          */
    VALUE_HOSTS,        /* as VALUE_LIST: HOST or HOST:PORT             */
    VALUE_DECIMAL,      /* mpq_t: 1250.50                               */
    VALUE_RATIO,        /* mpq_t: 0.1 or 10%                            */
    VALUE_COUNT,        /* int64_t: 1 and up                            */
    VALUE_MEGABYTES,    /* int64_t: 1 to 2^30, a petabyte              */
    VALUE_SECONDS,      /* int64_t: 1 to 600                            */
    VALUE_DURATION,     /* int64_t, seconds: 90s, 30m, 1h, 2d           */
    VALUE_STATES,       /* uint32_t: a list of job states, or off       */
    VALUE_DATE,         /* civil_t: 2024-03-01                          */
    VALUE_FROM,         /* the start of a period_t: 2024-03-01          */
    VALUE_TO,           /* its end, exclusive                           */
    VALUE_START,        /* as VALUE_FROM, with a time: 2024-03-01 14:00 */
    VALUE_END,          /* its end, exclusive                           */
    VALUE_SPAN,         /* int, months: 5y, 18m                         */
    VALUE_MONTH,        /* int, 1 to 12: 07-01, the first day of it     */
    VALUE_ZONE,         /* zone_t *                                     */
    VALUE_CURRENCY,     /* char[4] and digits of the site: USD          */
    VALUE_WORD,         /* int: one of `words`                          */
    VALUE_SHARES,       /* share_list_t: {POOL: SHARE, ...}             */
    VALUE_FUNDING,      /* share_list_t: a name, or {NAME: SHARE, ...} */
    VALUE_SALVAGE,      /* mpq_t of site_asset_t: an amount, or 10%     */
    VALUE_SLICES,       /* two ints: 1/7                                */
    VALUE_REVALUE,      /* of site_asset_change_t: an amount, or 10%    */
    VALUE_DAYS,         /* unsigned, bit 0 Monday: mon-fri, sun          */
    VALUE_NUMBERS,      /* two int64_t: 4, 2-4, 2+                      */
    VALUE_HOURS_OF_DAY, /* two ints, minutes: 07:00-22:00            */
    VALUE_MAP,          /* text_list_t: name, value, name, value ...    */
    VALUE_ENTRIES,      /* a list within an entry: of the kind `refers`   */
} value_type_t;

enum {
    SCHEMA_REQUIRED = 1,  /* must be given                           */
    SCHEMA_IDENTITY = 2,  /* with its likes: names the entry         */
    SCHEMA_POSITIVE = 4,  /* a number above 0 (else 0 and up)        */
    SCHEMA_TO_ONE = 8,    /* at most 1                               */
    SCHEMA_FROM_ONE = 16, /* at least 1                             */
    SCHEMA_NAMES = 32,    /* of VALUE_SHARES: a list of names will do  */
    SCHEMA_SIGNED = 128,  /* of VALUE_RATIO: from -1 on                  */
    SCHEMA_YES_NO = 64,   /* of VALUE_RATIO: yes and no are 100% and 0 */
    SCHEMA_ALIASES = 256, /* of a reference to teams: an alias will do   */
};

typedef struct {
    const char *word; /* NULL ends the list */
    int value;
} schema_word_t;

typedef struct {
    const char *name;
    value_type_t type;
    unsigned flags;
    size_t offset;              /* in the kind's struct */
    const schema_word_t *words; /* of VALUE_WORD */
    const char *refers;         /* kind of whose names it must be one;
                                   of VALUE_ENTRIES: the kind in it */
    const char *fallback;       /* parsed where the key is absent, or NULL */
    const char *example;        /* in the default file, as YAML */
    const char *help;           /* a sentence for manual and default file */
} schema_key_t;

typedef struct {
    const char *name;
    const char *help;
    const schema_key_t *keys;
    size_t key_count;
    /* A list: where site_t keeps array and count, and an entry's size, its
     * period (dated kinds) and place. A size of 0: one mapping, whose offsets
     * are those of site_t. */
    size_t size;
    size_t array;
    size_t counter;
    bool dated;
    size_t valid;
    bool placed;
    size_t place;
} schema_kind_t;

const schema_kind_t *const *schema_kinds (size_t *ret_count);
/* NULL for an unknown name. */
const schema_kind_t *schema_kind (const char *name);
const schema_key_t *schema_key (const schema_kind_t *kind, const char *name);
/* The kind of the entries in a value of VALUE_ENTRIES; its array and counter are
 * offsets in the entry that holds them. */
const schema_kind_t *schema_entries (const schema_key_t *key);

/* The keys of a layout (site/export_layout.h), which are none of gpuledger.yaml. */
const schema_kind_t *schema_layout_kind (void);

/* The key takes a figure, for which a file may say SITE_TODO: an amount, a share, a day, a
 * span or a plain text, such as the model of a GPU, that has an example. */
bool schema_is_figure (const schema_key_t *key);

/* What a value of the type looks like: "a date (2024-03-01)". */
const char *schema_type_text (value_type_t type);

/* " (did you mean 'price'?)" for a word near a known one, else "; known are:
 * a, b". `kind` NULL: kinds, else its keys. Yours to free. */
/* A key that counts GPUs counts CPUs in an entry of a pool of CPUs, and is named so
 * there: "per_cpu_hour" of "per_gpu_hour", yours; NULL: it counts no GPUs. */
char *schema_cpu_word (const char *name);
char *schema_hint (const schema_kind_t *kind, const char *word);

#endif /* !GL_CONFIG_SCHEMA_H */
