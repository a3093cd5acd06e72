#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "gres/mig.h"

/* The longest profile or model name that is compared. */
#define NAME_MAX_LENGTH 63

/*
 * Slices of each profile. The slices of an AMD Instinct are its dies: a GPU is
 * cut into partitions of equal size, and its memory with them. Sources: AMD's
 * guide to partitioning (MI300X eight dies, MI300A six), aqua_vanjaram.c of the
 * amdgpu driver (which modes so many dies allow). Of MIG: NVIDIA MIG User Guide
 * v580, "Supported MIG Profiles"; `nvidia-smi mig -lgip` and `-lgipp` of real
 * cards; NVIDIA/mig-parted default configuration. The guide prints 1/8 of the
 * memory for 1g.10gb on the A100 with 40 GB; real cards (9.62 of 39.25 GiB, at
 * most 4) have 2/8.
 */
static const mig_profile_t builtin[] = {
    {"A100-40GB", "1g.5gb", 1, 7, 1, 8, 7},
    {"A100-40GB", "1g.5gb+me", 1, 7, 1, 8, 1},
    {"A100-40GB", "1g.10gb", 1, 7, 2, 8, 4},
    {"A100-40GB", "2g.10gb", 2, 7, 2, 8, 3},
    {"A100-40GB", "3g.20gb", 3, 7, 4, 8, 2},
    {"A100-40GB", "4g.20gb", 4, 7, 4, 8, 1},
    {"A100-40GB", "7g.40gb", 7, 7, 8, 8, 1},
    {"A100-80GB", "1g.10gb", 1, 7, 1, 8, 7},
    {"A100-80GB", "1g.10gb+me", 1, 7, 1, 8, 1},
    {"A100-80GB", "1g.20gb", 1, 7, 2, 8, 4},
    {"A100-80GB", "2g.20gb", 2, 7, 2, 8, 3},
    {"A100-80GB", "3g.40gb", 3, 7, 4, 8, 2},
    {"A100-80GB", "4g.40gb", 4, 7, 4, 8, 1},
    {"A100-80GB", "7g.80gb", 7, 7, 8, 8, 1},
    {"A30-24GB", "1g.6gb", 1, 4, 1, 4, 4},
    {"A30-24GB", "1g.6gb+me", 1, 4, 1, 4, 1},
    {"A30-24GB", "2g.12gb", 2, 4, 2, 4, 2},
    {"A30-24GB", "2g.12gb+me", 2, 4, 2, 4, 1},
    {"A30-24GB", "4g.24gb", 4, 4, 4, 4, 1},
    {"H100-80GB", "1g.10gb", 1, 7, 1, 8, 7},
    {"H100-80GB", "1g.10gb+me", 1, 7, 1, 8, 1},
    {"H100-80GB", "1g.20gb", 1, 7, 2, 8, 4},
    {"H100-80GB", "2g.20gb", 2, 7, 2, 8, 3},
    {"H100-80GB", "3g.40gb", 3, 7, 4, 8, 2},
    {"H100-80GB", "4g.40gb", 4, 7, 4, 8, 1},
    {"H100-80GB", "7g.80gb", 7, 7, 8, 8, 1},
    {"H100-94GB", "1g.12gb", 1, 7, 1, 8, 7},
    {"H100-94GB", "1g.12gb+me", 1, 7, 1, 8, 1},
    {"H100-94GB", "1g.24gb", 1, 7, 2, 8, 4},
    {"H100-94GB", "2g.24gb", 2, 7, 2, 8, 3},
    {"H100-94GB", "3g.47gb", 3, 7, 4, 8, 2},
    {"H100-94GB", "4g.47gb", 4, 7, 4, 8, 1},
    {"H100-94GB", "7g.94gb", 7, 7, 8, 8, 1},
    {"H100-96GB", "1g.12gb", 1, 7, 1, 8, 7},
    {"H100-96GB", "1g.12gb+me", 1, 7, 1, 8, 1},
    {"H100-96GB", "1g.24gb", 1, 7, 2, 8, 4},
    {"H100-96GB", "2g.24gb", 2, 7, 2, 8, 3},
    {"H100-96GB", "3g.48gb", 3, 7, 4, 8, 2},
    {"H100-96GB", "4g.48gb", 4, 7, 4, 8, 1},
    {"H100-96GB", "7g.96gb", 7, 7, 8, 8, 1},
    {"H200-141GB", "1g.18gb", 1, 7, 1, 8, 7},
    {"H200-141GB", "1g.18gb+me", 1, 7, 1, 8, 1},
    {"H200-141GB", "1g.35gb", 1, 7, 2, 8, 4},
    {"H200-141GB", "2g.35gb", 2, 7, 2, 8, 3},
    {"H200-141GB", "3g.71gb", 3, 7, 4, 8, 2},
    {"H200-141GB", "4g.71gb", 4, 7, 4, 8, 1},
    {"H200-141GB", "7g.141gb", 7, 7, 8, 8, 1},
    {"B200-180GB", "1g.23gb", 1, 7, 1, 8, 7},
    {"B200-180GB", "1g.23gb+me", 1, 7, 1, 8, 1},
    {"B200-180GB", "1g.45gb", 1, 7, 2, 8, 4},
    {"B200-180GB", "2g.45gb", 2, 7, 2, 8, 3},
    {"B200-180GB", "3g.90gb", 3, 7, 4, 8, 2},
    {"B200-180GB", "4g.90gb", 4, 7, 4, 8, 1},
    {"B200-180GB", "7g.180gb", 7, 7, 8, 8, 1},
    {"MI300A-128GB", "tpx", 2, 6, 2, 6, 3},
    {"MI300A-128GB", "cpx", 1, 6, 1, 6, 6},
    {"MI300X-192GB", "dpx", 4, 8, 4, 8, 2},
    {"MI300X-192GB", "qpx", 2, 8, 2, 8, 4},
    {"MI300X-192GB", "cpx", 1, 8, 1, 8, 8},
    {"MI325X-256GB", "dpx", 4, 8, 4, 8, 2},
    {"MI325X-256GB", "qpx", 2, 8, 2, 8, 4},
    {"MI325X-256GB", "cpx", 1, 8, 1, 8, 8},
    {"MI350X-288GB", "dpx", 4, 8, 4, 8, 2},
    {"MI350X-288GB", "qpx", 2, 8, 2, 8, 4},
    {"MI350X-288GB", "cpx", 1, 8, 1, 8, 8},
    {"MI355X-288GB", "dpx", 4, 8, 4, 8, 2},
    {"MI355X-288GB", "qpx", 2, 8, 2, 8, 4},
    {"MI355X-288GB", "cpx", 1, 8, 1, 8, 8},
};

/*
 * Names of models as sites, drivers and vendors write them; compared without
 * case and with '-' for every separator.
 */
static const struct {
    const char *name;
    const char *model;
} aliases[] = {
    {"A100-SXM4-40GB", "A100-40GB"},
    {"A100-SXM-40GB", "A100-40GB"},
    {"A100-PCIE-40GB", "A100-40GB"},
    {"A100-40", "A100-40GB"},
    {"A100-SXM4-80GB", "A100-80GB"},
    {"A100-SXM-80GB", "A100-80GB"},
    {"A100-PCIE-80GB", "A100-80GB"},
    {"A100-80GB-PCIE", "A100-80GB"},
    {"A100-80", "A100-80GB"},
    {"A30", "A30-24GB"},
    {"A30-PCIE-24GB", "A30-24GB"},
    {"H100-SXM5-80GB", "H100-80GB"},
    {"H100-SXM-80GB", "H100-80GB"},
    {"H100-80GB-HBM3", "H100-80GB"},
    {"H100-80GB-HBM2E", "H100-80GB"},
    {"H100-PCIE-80GB", "H100-80GB"},
    {"H100-PCIE", "H100-80GB"},
    {"H100-NVL", "H100-94GB"},
    {"H100-NVL-94GB", "H100-94GB"},
    {"H100-SXM5-94GB", "H100-94GB"},
    {"H100-SXM5-96GB", "H100-96GB"},
    {"GH200", "H100-96GB"},
    {"GH200-96GB", "H100-96GB"},
    {"GH200-480GB", "H100-96GB"},
    {"H20", "H100-96GB"},
    {"H20-96GB", "H100-96GB"},
    {"H200", "H200-141GB"},
    {"H200-SXM", "H200-141GB"},
    {"H200-SXM-141GB", "H200-141GB"},
    {"H200-SXM5-141GB", "H200-141GB"},
    {"H200-NVL", "H200-141GB"},
    {"H200-NVL-141GB", "H200-141GB"},
    {"B200", "B200-180GB"},
    {"B200-SXM", "B200-180GB"},
    {"B200-SXM-180GB", "B200-180GB"},
    {"B200-SXM6-180GB", "B200-180GB"},
    {"MI300A", "MI300A-128GB"},
    {"MI300X", "MI300X-192GB"},
    {"MI300X-OAM", "MI300X-192GB"},
    {"MI325X", "MI325X-256GB"},
    {"MI325X-OAM", "MI325X-256GB"},
    {"MI350X", "MI350X-288GB"},
    {"MI350X-OAM", "MI350X-288GB"},
    {"MI355X", "MI355X-288GB"},
    {"MI355X-OAM", "MI355X-288GB"},
};

/* Words by which a Slurm type names a family of models. */
static const struct {
    const char *word;
    const char *model;
} families[] = {
    {"a100", "A100-40GB"},      {"a100", "A100-80GB"},
    {"a30", "A30-24GB"},        {"h100", "H100-80GB"},
    {"h100", "H100-94GB"},      {"h100", "H100-96GB"},
    {"gh200", "H100-96GB"},     {"h20", "H100-96GB"},
    {"h200", "H200-141GB"},     {"b200", "B200-180GB"},
    {"mi300a", "MI300A-128GB"}, {"mi300x", "MI300X-192GB"},
    {"mi325x", "MI325X-256GB"}, {"mi350x", "MI350X-288GB"},
    {"mi355x", "MI355X-288GB"},
};

static const char *const basis_names[] = {
    [MIG_COMPUTE] = "compute",
    [MIG_MEMORY] = "memory",
    [MIG_MAX] = "max",
};

const char *mig_basis_name (mig_basis_t basis)
{
    return basis_names[basis];
}

const mig_profile_t *mig_profiles (size_t *ret_count)
{
    *ret_count = GL_ARRAY_SIZE (builtin);
    return builtin;
}

/* Vendors and their brands matter as little as case: "AMD Instinct MI300X" is the
 * MI300X. */
static const char *skip_vendor (const char *name)
{
    static const char *const words[] = {"nvidia", "amd", "instinct"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (words); i++) {
        size_t length = strlen (words[i]);
        if (strncasecmp (name, words[i], length) == 0 && name[length] != '\0')
            name += length + 1;
    }
    return name;
}

/* "nvidia_H100 PCIe" -> "h100-pcie"; too long names are cut and match none. */
static void normalize (const char *name, char to[NAME_MAX_LENGTH + 1])
{
    size_t length = 0;

    name = skip_vendor (name);
    for (; *name && length < NAME_MAX_LENGTH; name++) {
        unsigned char c = *name;
        to[length++] = isalnum (c) ? (char)tolower (c) : '-';
    }
    to[length] = '\0';
}

/* The name is that normalized one; most differ in their first letters. */
static bool is_normal (const char *name, const char *normal)
{
    name = skip_vendor (name);
    for (; *name; name++, normal++) {
        unsigned char c = *name;
        if (*normal != (isalnum (c) ? (char)tolower (c) : '-'))
            return false;
    }
    return *normal == '\0';
}

/* Case, separators and the vendor do not matter. */
static bool same_name (const char *a, const char *b)
{
    char na[NAME_MAX_LENGTH + 1], nb[NAME_MAX_LENGTH + 1];

    normalize (a, na);
    normalize (b, nb);
    return strcmp (na, nb) == 0;
}

const char *mig_model (const char *name)
{
    char normal[NAME_MAX_LENGTH + 1];

    for (size_t i = 0; i < GL_ARRAY_SIZE (builtin); i++) {
        if (!strcmp (builtin[i].model, name))
            return builtin[i].model;
    }
    normalize (name, normal);
    for (size_t i = 0; i < GL_ARRAY_SIZE (builtin); i++) {
        if (is_normal (builtin[i].model, normal))
            return builtin[i].model;
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (aliases); i++) {
        if (is_normal (aliases[i].name, normal))
            return aliases[i].model;
    }
    return NULL;
}

/* The name under which models are compared: the table's, else as given. */
static const char *canonical (const char *name)
{
    const char *model = mig_model (name);

    return model ? model : name;
}

static size_t skip_digits (const char *text, size_t length, size_t at)
{
    while (at < length && isdigit ((unsigned char)text[at]))
        at++;
    return at;
}

/* Digits, then the word, at `at`: the offset after it, or 0. */
static size_t number_and_word (const char *text, size_t length, size_t at,
                               const char *word)
{
    size_t end = skip_digits (text, length, at);
    size_t word_length = strlen (word);

    if (end == at || end + word_length > length
        || strncasecmp (text + end, word, word_length) != 0)
        return 0;
    return end + word_length;
}

/* "+me", "+me.all", "+gfx", and "-me" */
static size_t skip_attributes (const char *text, size_t length, size_t at)
{
    while (at < length
           && (text[at] == '+'
               || (at + 3 <= length && strncasecmp (text + at, "-me", 3) == 0
                   && (at + 3 == length
                       || !isalnum ((unsigned char)text[at + 3]))))) {
        at++;
        while (at < length && isalpha ((unsigned char)text[at]))
            at++;
        if (at + 4 <= length && strncasecmp (text + at, ".all", 4) == 0)
            at += 4;
    }
    return at;
}

/* "cpx" and others: modes of AMD in which a GPU is cut. In SPX it is whole. */
static size_t partition_end (const char *text, size_t length, size_t at)
{
    return at + 3 <= length && strchr ("dtqcDTQC", text[at])
                   && strncasecmp (text + at + 1, "px", 2) == 0
                   && (at + 3 == length
                       || !isalnum ((unsigned char)text[at + 3]))
               ? at + 3
               : 0;
}

/* The end of a profile that begins at `at`, or 0. */
static size_t profile_end (const char *text, size_t length, size_t at)
{
    size_t end = partition_end (text, length, at);

    if (end)
        return end;
    end = number_and_word (text, length, at, "c.");
    end = number_and_word (text, length, end ? end : at, "g.");
    if (end)
        end = number_and_word (text, length, end, "gb");
    if (!end || (end < length && isalnum ((unsigned char)text[end])))
        return 0;
    return skip_attributes (text, length, end);
}

bool mig_profile_in_type (const char *type, size_t length,
                          const char **ret_profile, size_t *ret_length)
{
    for (size_t i = 0; type && i < length; i++) {
        size_t end;
        if (i > 0 && isalnum ((unsigned char)type[i - 1]))
            continue;
        end = profile_end (type, length, i);
        if (end) {
            *ret_profile = type + i;
            *ret_length = end - i;
            return true;
        }
    }
    return false;
}

/* One question to the tables, and what has been found so far. */
typedef struct {
    const char *model; /* NULL: any */
    const char *hint;  /* a type whose words may name the family, or NULL */
    size_t hint_length;
    const char *profile;
    size_t profile_length;
    const mig_profile_t *found;
    const mig_profile_t *other; /* disagrees with `found` */
} query_t;

static fraction_t profile_weight (const mig_profile_t *p, mig_basis_t basis)
{
    fraction_t compute = fraction (p->compute, p->compute_total);
    fraction_t memory = fraction (p->memory, p->memory_total);

    if (basis == MIG_COMPUTE)
        return compute;
    if (basis == MIG_MEMORY)
        return memory;
    return fraction_compare (compute, memory) >= 0 ? compute : memory;
}

/* A word of the hint, its letters and digits, is this one. */
static bool hint_has (const query_t *q, const char *word)
{
    size_t length = strlen (word);

    for (size_t i = 0; i + length <= q->hint_length; i++) {
        if ((i == 0 || !isalnum ((unsigned char)q->hint[i - 1]))
            && strncasecmp (q->hint + i, word, length) == 0
            && (i + length == q->hint_length
                || !isalnum ((unsigned char)q->hint[i + length])))
            return true;
    }
    return false;
}

/* The model may be meant: it is named, or the hint names its family, or no
 * family at all. */
static bool model_matches (const query_t *q, const char *model)
{
    bool named = false;

    if (q->model)
        return same_name (q->model, model);
    for (size_t i = 0; q->hint && i < GL_ARRAY_SIZE (families); i++) {
        if (hint_has (q, families[i].word)) {
            if (strcmp (families[i].model, model) == 0)
                return true;
            named = true;
        }
    }
    return !named;
}

static void search (query_t *q, const mig_profile_t *rows, size_t count,
                    mig_basis_t basis)
{
    for (size_t i = 0; i < count; i++) {
        const mig_profile_t *row = &rows[i];
        if (strlen (row->profile) != q->profile_length
            || strncasecmp (row->profile, q->profile, q->profile_length) != 0
            || (row->model && !model_matches (q, canonical (row->model))))
            continue;
        if (!q->found)
            q->found = row;
        else if (fraction_compare (profile_weight (q->found, basis),
                                   profile_weight (row, basis))
                 != 0)
            q->other = row;
    }
}

/* Attributes ("+gfx", "-me") choose engines, not slices. */
static size_t without_attributes (const char *profile, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (profile[i] == '+' || profile[i] == '-')
            return i;
    }
    return length;
}

static const mig_profile_t *find (const mig_table_t *site, query_t *q,
                                  mig_basis_t basis, gl_error_t *error)
{
    size_t full = q->profile_length;

    if (q->model)
        q->model = canonical (q->model);
    if (site)
        search (q, site->profiles, site->count, basis);
    if (!q->found)
        search (q, builtin, GL_ARRAY_SIZE (builtin), basis);
    if (!q->found) {
        q->profile_length = without_attributes (q->profile, full);
        search (q, builtin, GL_ARRAY_SIZE (builtin), basis);
    }
    if (!q->found) {
        gl_error (
            error,
            "unknown slice profile '%.*s'%s%s; define it under profiles in "
            "the configuration",
            (int)(full > NAME_MAX_LENGTH ? NAME_MAX_LENGTH : full), q->profile,
            q->model ? " on GPU " : "", q->model ? q->model : "");
        return NULL;
    }
    if (q->other) {
        gl_error (error,
                  "profile '%.*s' is ambiguous: %s and %s differ in %s; "
                  "name the GPU in the pool",
                  (int)full, q->profile,
                  q->found->model ? q->found->model : "the site's profiles",
                  q->other->model ? q->other->model : "the site's profiles",
                  basis_names[basis]);
        return NULL;
    }
    return q->found;
}

int mig_weight (const mig_table_t *site, const char *model, const char *profile,
                size_t profile_length, mig_basis_t basis,
                fraction_t *ret_weight, gl_error_t *error)
{
    query_t q = {
        .model = model, .profile = profile, .profile_length = profile_length};
    const mig_profile_t *row = find (site, &q, basis, error);

    if (!row)
        return -1;
    *ret_weight = profile_weight (row, basis);
    return 0;
}

int mig_type_weight (const mig_table_t *site, const char *model,
                     const char *type, size_t type_length, mig_basis_t basis,
                     fraction_t *ret_weight, gl_error_t *error)
{
    query_t q = {.model = model, .hint = type, .hint_length = type_length};
    const mig_profile_t *row;

    if (!type
        || !mig_profile_in_type (type, type_length, &q.profile,
                                 &q.profile_length)) {
        *ret_weight = fraction (1, 1);
        return 0;
    }
    if (!(row = find (site, &q, basis, error)))
        return -1;
    *ret_weight = profile_weight (row, basis);
    return 0;
}

/* a + n * b; the terms are small, for layouts are bounded before */
static fraction_t add_times (fraction_t a, int64_t n, fraction_t b)
{
    return fraction (a.num * b.den + n * b.num * a.den, a.den * b.den);
}

/* What a layout adds up to so far: in both kinds of slices, because it must
 * fit in both whatever it is weighed by. */
typedef struct {
    const mig_table_t *site;
    const char *model;
    int64_t gpus;
    mig_basis_t basis;
    fraction_t compute;
    fraction_t memory;
    fraction_t chosen;
    int64_t cards; /* that the slices with the fewest to a card take */
} layout_t;

/* whole cards */
static void at_least (int64_t *cards, fraction_t needed)
{
    int64_t whole = (needed.num + needed.den - 1) / needed.den;

    if (whole > *cards)
        *cards = whole;
}

/* PROFILE[:COUNT] */
static int add_layout_item (layout_t *l, const char *item, size_t length,
                            gl_error_t *error)
{
    const char *colon = memchr (item, ':', length);
    const fraction_t gpus = fraction (l->gpus, 1);
    int64_t count = 1;
    query_t q = {.model = l->model,
                 .profile = item,
                 .profile_length = colon ? (size_t)(colon - item) : length};
    const mig_profile_t *row;

    /* no card has more than 8 slices; 64 leaves room for what comes */
    if (colon
        && (number_i64 (colon + 1, item + length - colon - 1, &count) < 0
            || count < 0 || count > 64 * l->gpus))
        return gl_error (error, "'%.*s' is not PROFILE:COUNT",
                         (int)(length > 64 ? 64 : length), item);
    if (!(row = find (l->site, &q, l->basis, error)))
        return -1;
    if (row->max_instances > 0 && count > row->max_instances * l->gpus)
        return gl_error (error, "%lld x %s do not fit: one GPU has at most %d",
                         (long long)count, row->profile, row->max_instances);
    if (row->max_instances > 0)
        at_least (&l->cards, fraction (count, row->max_instances));
    l->compute
        = add_times (l->compute, count, profile_weight (row, MIG_COMPUTE));
    l->memory = add_times (l->memory, count, profile_weight (row, MIG_MEMORY));
    l->chosen = add_times (l->chosen, count, profile_weight (row, l->basis));
    if (fraction_compare (l->compute, gpus) > 0
        || fraction_compare (l->memory, gpus) > 0)
        return gl_error (error, "more slices than %lld GPU(s) have",
                         (long long)l->gpus);
    return 0;
}

int mig_layout (const mig_table_t *site, const char *model, const char *layout,
                int gpus, mig_basis_t basis, fraction_t *ret_sum,
                fraction_t *ret_remainder, int64_t *ret_cards,
                gl_error_t *error)
{
    const fraction_t zero = fraction (0, 1);
    layout_t l = {site, model, gpus, basis, zero, zero, zero, 0};

    if (gpus < 1 || gpus > MIG_GPUS_MAX)
        return gl_error (error,
                         "layout '%.200s' of %d GPUs: 1 to %d are "
                         "possible",
                         layout, gpus, MIG_GPUS_MAX);
    for (const char *p = layout; *p;) {
        size_t length = strcspn (p, ",");
        if (add_layout_item (&l, p, length, error) < 0)
            return gl_error_prefix (error, "layout '%.200s'", layout);
        p += length;
        p += *p == ',';
    }
    at_least (&l.cards, l.compute);
    at_least (&l.cards, l.memory);
    if (ret_cards)
        *ret_cards = l.cards;
    if (ret_sum)
        *ret_sum = l.chosen;
    if (ret_remainder)
        *ret_remainder = add_times (fraction (gpus, 1), -1, l.chosen);
    return 0;
}
