/*
 * Credits: what of a line is given back. They are made of finished lines, which
 * stay as they are: see charge_add_credit().
 */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/charge_private.h"

/* --- one credit -------------------------------------------------------- */

static void init_line (struct credit *credit)
{
    charge_line_t *line = &credit->line;

    line->kind = CHARGE_CREDIT;
    line->path = (const char *const *)credit->path;
    line->what = credit->what;
    line->reference = credit->reference;
    charge_line_init (line);
}

void charge_add_credit (charge_t *charge, const char *const *path,
                        rate_subject_t of, mpq_srcptr price_seconds,
                        const char *what, const char *reference)
{
    struct credit *credit;

    if (mpq_sgn (price_seconds) == 0)
        return;
    of.pool = charge->pool;
    of.team = charge_path_team (charge, path);
    if (charge->credit_count == charge->credit_size) {
        charge->credit_size = charge->credit_size * 2 + 16;
        charge->credits
            = xreallocarray (charge->credits, charge->credit_size,
                             sizeof (*charge->credits));
    }
    credit = &charge->credits[charge->credit_count++];
    *credit = (struct credit){
        .path = charge_copy_path (charge, path),
        .what = xstrdup (what),
        .reference = xstrdup (reference),
        .price = rate_card_price (charge->site, of),
    };
    init_line (credit);
    mpq_neg (credit->line.price_seconds, price_seconds);
}

static void clear_credit (struct credit *credit)
{
    charge_line_clear (&credit->line);
    free (credit->path);
    free (credit->what);
    free (credit->reference);
}

void charge_credits_free (charge_t *charge)
{
    for (size_t i = 0; i < charge->credit_count; i++)
        clear_credit (&charge->credits[i]);
    free (GL_TAKE (charge->credits));
    charge->credit_count = charge->credit_size = 0;
}

/* --- order ------------------------------------------------------------- */

/* Keys of a charge line, whatever else a path has. */
static size_t line_length (const charge_t *charge)
{
    return charge->levels[1];
}

static int compare_reasons (const struct credit *a, const struct credit *b)
{
    int order = strcmp (a->what, b->what);

    return order ? order : strcmp (a->reference, b->reference);
}

/* By line, then by reason and reference, then by the rest of the path. */
static int by_line (const void *a, const void *b, void *arg)
{
    const struct credit *x = a, *y = b;
    const charge_t *charge = arg;
    int order = charge_compare_paths (x->path, y->path, line_length (charge));

    if (order == 0)
        order = compare_reasons (x, y);
    return order ? order
                 : charge_compare_paths (x->path, y->path,
                                         charge_path_length (charge));
}

/* The lines have their exact amounts: one credit for each path and reference. */
static void sort_and_merge (charge_t *charge)
{
    size_t kept = 0;

    if (charge->credit_count > 1)
        qsort_r (charge->credits, charge->credit_count,
                 sizeof (*charge->credits), by_line, charge);
    for (size_t i = 0; i < charge->credit_count; i++) {
        struct credit *credit = &charge->credits[i];
        struct credit *last = kept ? &charge->credits[kept - 1] : NULL;
        if (!last || by_line (last, credit, charge) != 0) {
            charge->credits[kept++] = *credit;
            continue;
        }
        mpq_add (last->line.price_seconds, last->line.price_seconds,
                 credit->line.price_seconds);
        mpq_add (last->line.charge, last->line.charge, credit->line.charge);
        clear_credit (credit);
    }
    charge->credit_count = kept;
}

/* --- exact amounts ----------------------------------------------------- */

/* Prices each credit: the share of the line's due that its price seconds are of the
 * line's. The line itself does not change. */
void charge_credits_price (charge_t *charge)
{
    mpq_t due;

    mpq_init (due);
    for (size_t i = 0; i < charge->credit_count; i++) {
        struct credit *credit = &charge->credits[i];
        charge_per_second (charge, &credit->price,
                           charge_path_team (charge, credit->line.path),
                           credit->path[0], due);
        mpq_mul (credit->line.charge, credit->line.price_seconds, due);
    }
    mpq_clear (due);
    sort_and_merge (charge);
}

/* The credits [start, end) are of one line. */
struct run {
    size_t start;
    size_t end;
    mpq_t charge; /* of that line, all its entries */
    mpz_t units;
};

/* The entries have the same order: *at moves on. */
static void sum_line (const charge_t *charge, struct run *run, size_t *at)
{
    char **path = charge->credits[run->start].path;

    for (; *at < charge->count; ++*at) {
        const struct entry *entry = &charge->entries[*at];
        int order
            = charge_compare_paths (entry->path, path, line_length (charge));
        if (order > 0)
            break;
        if (order < 0 || entry->line.kind != CHARGE_USED)
            continue;
        mpq_add (run->charge, run->charge, entry->line.charge);
        mpz_add (run->units, run->units, entry->line.charge_units);
    }
}

/* --- integers ---------------------------------------------------------- */

struct shares {
    mpq_t *part;
    mpz_t *units;
    size_t count;
};

static void shares_init (struct shares *s, size_t count)
{
    s->part = xcalloc (count, sizeof (*s->part));
    s->units = xcalloc (count, sizeof (*s->units));
    s->count = count;
    for (size_t i = 0; i < count; i++) {
        mpq_init (s->part[i]);
        mpz_init (s->units[i]);
    }
}

static void shares_clear (struct shares *s)
{
    for (size_t i = 0; i < s->count; i++) {
        mpq_clear (s->part[i]);
        mpz_clear (s->units[i]);
    }
    free (s->part);
    free (s->units);
}

/* Ends of the run's references: of one job each, in whatever parts. */
static size_t next_reference (const charge_t *charge, const struct run *run,
                              size_t at)
{
    size_t end = at + 1;

    while (end < run->end
           && !compare_reasons (&charge->credits[at], &charge->credits[end]))
        end++;
    return end;
}

/* Of one reference, over the rest of the path, in its order. */
static int share_parts (const charge_t *charge, size_t start, size_t end,
                        mpz_srcptr total, gl_error_t *error)
{
    struct shares s;
    int rc;

    shares_init (&s, end - start);
    for (size_t i = 0; i < s.count; i++) {
        charge_scale (s.part[i], charge->credits[start + i].line.charge,
                      charge->site->currency_digits);
        mpq_neg (s.part[i], s.part[i]);
    }
    rc = exact_share_in_order (total, (const mpq_t *)s.part, s.count, s.units,
                               error);
    for (size_t i = 0; i < s.count && rc == 0; i++)
        mpz_neg (charge->credits[start + i].line.charge_units, s.units[i]);
    shares_clear (&s);
    return rc;
}

/* The line's integer, over what it keeps and each reference. */
static int share_line (const charge_t *charge, struct run *run,
                       gl_error_t *error)
{
    struct shares s;
    size_t count = 1;
    int rc;

    shares_init (&s, run->end - run->start + 1);
    mpq_set (s.part[0], run->charge);
    for (size_t at = run->start; at < run->end; count++) {
        size_t end = next_reference (charge, run, at);
        for (; at < end; at++)
            mpq_sub (s.part[count], s.part[count],
                     charge->credits[at].line.charge);
        mpq_sub (s.part[0], s.part[0], s.part[count]);
    }
    for (size_t i = 0; i < count; i++)
        charge_scale (s.part[i], s.part[i], charge->site->currency_digits);
    rc = exact_share (run->units, (const mpq_t *)s.part, count, s.units, error);
    count = 1;
    for (size_t at = run->start; at < run->end && rc == 0; count++) {
        size_t end = next_reference (charge, run, at);
        rc = share_parts (charge, at, end, s.units[count], error);
        at = end;
    }
    shares_clear (&s);
    return rc;
}

static int credit_line (const charge_t *charge, struct run *run, size_t *at,
                        gl_error_t *error)
{
    int rc = 0;

    mpq_init (run->charge);
    mpz_init (run->units);
    sum_line (charge, run, at);
    if (mpq_sgn (run->charge) > 0)
        rc = share_line (charge, run, error);
    mpq_clear (run->charge);
    mpz_clear (run->units);
    return rc;
}

/* All that there is to say of them. */
static void finish (charge_t *charge)
{
    charge_remainder_t *rest = &charge->remainders[REMAINDER_CREDITED];

    for (size_t i = 0; i < charge->credit_count; i++) {
        charge_line_t *line = &charge->credits[i].line;
        mpq_set (line->list, line->charge);
        mpz_set (line->list_units, line->charge_units);
        mpq_sub (rest->charge, rest->charge, line->charge);
        mpz_sub (rest->charge_units, rest->charge_units, line->charge_units);
    }
}

int charge_credits_round (charge_t *charge, gl_error_t *error)
{
    struct run run;
    size_t at = 0, entry = 0;

    while (at < charge->credit_count) {
        run.start = at;
        while (at < charge->credit_count
               && charge_compare_paths (charge->credits[run.start].path,
                                        charge->credits[at].path,
                                        line_length (charge))
                      == 0)
            at++;
        run.end = at;
        if (credit_line (charge, &run, &entry, error) < 0)
            return -1;
    }
    finish (charge);
    return 0;
}
