/* The advice to the family of a job, in its explanation. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "waste/rightsize_private.h"

static void put_hours (explain_step_t *step, const char *name,
                       const char *title, mpq_srcptr seconds)
{
    mpq_t hours, hour;

    mpq_inits (hours, hour, NULL);
    mpq_set_ui (hour, 3600, 1);
    mpq_div (hours, seconds, hour);
    explain_exact (step, COLUMN_HOURS, name, title, hours, 6);
    mpq_clears (hours, hour, NULL);
}

static void put_saving (explain_step_t *step, const site_t *site,
                        const struct family *f, bool known)
{
    GL_AUTOFREE char *title = xasprintf (
        "saves %s, %s", known ? "at least" : "at most", site->currency);
    mpq_t seconds;
    mpz_t units;

    mpq_init (seconds);
    mpz_init (units);
    rightsize_saving (f, known, seconds, units);
    if (f->advice.id != ADVICE_SMALLER_GPU)
        put_hours (step, known ? "saving_gpu_hours_least" : "saving_gpu_hours",
                   known ? "saves at least, GPU hours of the family"
                         : "saves at most, GPU hours of the family",
                   seconds);
    if (mpq_sgn (f->value) > 0)
        explain_line (step, COLUMN_MONEY, known ? "saving_least" : "saving",
                      title, exact_units_text (units, site->currency_digits));
    mpz_clear (units);
    mpq_clear (seconds);
}

static void put_evidence (explain_step_t *step, const struct family *f)
{
    mpq_t part, whole;

    explain_format (step, "jobs", "jobs that completed", "%llu",
                    (unsigned long long)f->jobs);
    put_hours (step, "gpu_hours", "their GPU hours", f->seconds);
    explain_line (step, COLUMN_PERCENT, "known_pct",
                  "of which activity was measured, %",
                  report_coverage_text (f->known, f->seconds));
    explain_line (step, COLUMN_PERCENT, "active_pct", "mean activity, %",
                  report_percent_text (f->active, f->known));
    mpq_inits (part, whole, NULL);
    exact_set_i64 (part, f->memory_max, 1);
    exact_set_i64 (whole, f->memory_total, 1);
    explain_line (step, COLUMN_PERCENT, "memory_pct", "peak of memory, %",
                  f->memory_max >= 0 && f->memory_total > 0
                      ? report_percent_text (part, whole)
                      : NULL);
    mpq_clears (part, whole, NULL);
}

static void put_advice (explain_step_t *step, const site_t *site,
                        const struct family *f)
{
    bool known = rightsize_known (f);

    explain_text (step, "advice", "advice in one word",
                  f->advice.text ? rightsize_word (f->advice.id)
                  : known        ? "none"
                                 : NULL);
    explain_text (step, "advice_text", "what would fit",
                  f->advice.text ? f->advice.text
                  : known
                      ? "Their size fits."
                      : "Unknown: too few jobs or hours, or less than half of "
                        "the hours were measured.");
    if (!f->advice.text || mpq_sgn (f->advice.share) == 0)
        return;
    put_saving (step, site, f, true);
    put_saving (step, site, f, false);
}

/* "ann, vision, train_#, h100, 4 GPUs each" */
static char *family_text (const char *key)
{
    GL_AUTOFREE char *words = xstrdup (key);
    buffer_t text = BUFFER_INIT;

    for (char *word = words, *next; word; word = next) {
        next = strchr (word, '\n');
        if (next)
            *next++ = '\0';
        if (*word)
            buffer_printf (&text, "%s%s%s", text.length ? ", " : "", word,
                           next ? "" : " GPUs each");
    }
    return buffer_take (&text);
}

void rightsize_explain (const rightsize_t *r, const char *key,
                        explain_segment_t *to)
{
    GL_AUTOFREE char *family = family_text (key);
    explain_step_t *step;
    struct family *f;

    HASH_FIND_STR (r->families, key, f);
    if (!f || mpq_sgn (f->known) == 0)
        return;
    step = explain_step (to, "rightsize",
                         xstrdup ("Size of the jobs of this kind"));
    explain_text (step, "family", "user, account, name, pool and size", family);
    put_evidence (step, f);
    put_advice (step, r->query->site, f);
}
