/* The page of right-sizing. */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "waste/rightsize_private.h"

enum {
    AT_USER,
    AT_ACCOUNT,
    AT_NAME,
    AT_POOL,
    AT_PROFILE,
    AT_DEVICES,
    AT_JOBS,
    AT_HOURS,
    AT_KNOWN,
    AT_ACTIVE,
    AT_MEMORY,
    AT_ADVICE_WORD,
    AT_ADVICE,
    AT_LEAST,
    AT_MOST,
    AT_AMOUNT_LEAST,
    AT_AMOUNT,
    AT_CURRENCY,
    AT_COUNT,
};

static const column_info_t columns[AT_COUNT] = {
    {"user", "User", COLUMN_TEXT, true, false, "Who submitted the jobs."},
    {"account", "Account", COLUMN_TEXT, true, false, "Their account."},
    {"job_name", "Job name", COLUMN_TEXT, true, false,
     "The name of the jobs, with '#' for digits."},
    {"pool", "Pool", COLUMN_TEXT, true, false, "The pool of their devices."},
    {"profile", "Slice", COLUMN_TEXT, true, false,
     "The profile of MIG slices; empty: GPUs."},
    {"gpus", "GPUs", COLUMN_COUNT, true, false, "Devices of each job."},
    {"jobs", "Jobs", COLUMN_COUNT, false, false,
     "Jobs that completed, the others are not judged."},
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs that the jobs had."},
    {"known_pct", "Measured %", COLUMN_PERCENT, false, true,
     "The share of the GPU hours whose activity was measured."},
    {"active_pct", "Active %", COLUMN_PERCENT, false, false,
     "Mean activity of the GPUs in the measured time."},
    {"memory_pct", "Memory %", COLUMN_PERCENT, false, false,
     "The peak of memory in use, of the memory of a device."},
    {"advice", "Advice in one word", COLUMN_TEXT, false, true,
     "fewer_gpus, half_gpus, fewer_scaling, slice, smaller_gpu or pipeline."},
    {"advice_text", "What would fit", COLUMN_WORDS, false, false,
     "What to ask for instead."},
    {"saving_gpu_hours_least", "Saves at least, GPU hours", COLUMN_HOURS, false,
     true, "The part of the measured GPU hours that it would save."},
    {"saving_gpu_hours", "Saves GPU hours", COLUMN_HOURS, false, false,
     "The same part of all GPU hours: at most so many."},
    {"saving_least", "Saves at least", COLUMN_MONEY, false, false,
     "The measured hours at the average list price of the pool."},
    {"saving", "Saves at most", COLUMN_MONEY, false, false,
     "All hours at that price. Less if a smaller GPU is slower."},
    {"currency", "Currency", COLUMN_TEXT, false, true,
     "The currency of the amounts."},
};

struct page {
    rightsize_t *r;
    report_t *report;
    mpz_t least, most;
};

/* By what is saved at most, the largest first; then by key. */
static int by_saving (const struct family *a, const struct family *b)
{
    mpq_t x, y;
    int order;

    mpq_inits (x, y, NULL);
    mpq_mul (x, a->value, a->advice.share);
    mpq_mul (y, b->value, b->advice.share);
    order = mpq_cmp (y, x);
    mpq_clears (x, y, NULL);
    return order ? order : strcmp (a->key, b->key);
}

void rightsize_saving (const struct family *f, bool known, mpq_t ret_seconds,
                       mpz_t ret_units)
{
    mpq_t value;

    mpq_init (value);
    mpq_mul (ret_seconds, known ? f->known : f->seconds, f->advice.share);
    mpq_mul (value, f->value, f->advice.share);
    if (known) {
        mpq_mul (value, value, f->known);
        mpq_div (value, value, f->seconds);
    }
    exact_round (ret_units, value, 0);
    mpq_clear (value);
}

/* What a part of the family's hours would save; known: of the measured ones. */
static void put_saving (struct page *page, const struct family *f, bool known,
                        size_t hours_at, size_t money_at, mpz_t sum)
{
    int digits = page->r->query->site->currency_digits;
    mpq_t seconds;
    mpz_t units;

    mpq_init (seconds);
    mpz_init (units);
    rightsize_saving (f, known, seconds, units);
    if (f->advice.id
        != ADVICE_SMALLER_GPU) /* as many hours, at another price */
        report_put_hours (page->report, hours_at, seconds);
    mpz_add (sum, sum, units);
    if (mpq_sgn (f->value) > 0) {
        report_put_money (page->report, money_at, units, digits);
        report_put_text (page->report, AT_CURRENCY,
                         page->r->query->site->currency);
    }
    mpz_clear (units);
    mpq_clear (seconds);
}

static void put_family (struct page *page, const struct family *f)
{
    report_t *report = page->report;
    mpq_t part, whole;

    report_row (report);
    report_put_text (report, AT_USER, f->user);
    report_put_text (report, AT_ACCOUNT, f->account);
    report_put_text (report, AT_NAME, f->name[0] ? f->name : "(no name)");
    report_put_text (report, AT_POOL, f->pool);
    if (f->profile)
        report_put_text (report, AT_PROFILE, f->profile);
    report_put_count (report, AT_DEVICES, f->devices);
    report_put_count (report, AT_JOBS, f->jobs);
    report_put_hours (report, AT_HOURS, f->seconds);
    report_put_made (report, AT_KNOWN,
                     report_coverage_text (f->known, f->seconds));
    report_put_made (report, AT_ACTIVE,
                     report_percent_text (f->active, f->known));
    if (f->memory_max >= 0 && f->memory_total > 0) {
        mpq_inits (part, whole, NULL);
        exact_set_i64 (part, f->memory_max, 1);
        exact_set_i64 (whole, f->memory_total, 1);
        report_put_made (report, AT_MEMORY, report_percent_text (part, whole));
        mpq_clears (part, whole, NULL);
    }
    report_put_text (report, AT_ADVICE, f->advice.text ? f->advice.text : "");
}

static const char *const words[ADVICE_COUNT] = {
    [ADVICE_FEWER_GPUS] = "fewer_gpus",       [ADVICE_HALF_GPUS] = "half_gpus",
    [ADVICE_FEWER_SCALING] = "fewer_scaling", [ADVICE_SLICE] = "slice",
    [ADVICE_SMALLER_GPU] = "smaller_gpu",     [ADVICE_PIPELINE] = "pipeline",
};

const char *rightsize_word (advice_id_t advice)
{
    return words[advice];
}

/* Sites without slices need no column of them. */
static bool any_slice (const struct family *f)
{
    for (; f; f = f->hh.next)
        if (f->profile && f->advice.id != ADVICE_NONE)
            return true;
    return false;
}

static void put_families (struct page *page)
{
    HASH_SORT (page->r->families, by_saving);
    page->report->column[AT_PROFILE].detail = !any_slice (page->r->families);
    for (struct family *f = page->r->families; f; f = f->hh.next) {
        if (f->advice.id == ADVICE_NONE)
            continue;
        put_family (page, f);
        report_put_text (page->report, AT_ADVICE_WORD, words[f->advice.id]);
        if (mpq_sgn (f->advice.share) == 0)
            continue;
        put_saving (page, f, true, AT_LEAST, AT_AMOUNT_LEAST, page->least);
        put_saving (page, f, false, AT_MOST, AT_AMOUNT, page->most);
    }
}

static void add_figures (struct page *page)
{
    const site_t *site = page->r->query->site;
    GL_AUTOFREE char *least
        = exact_units_text (page->least, site->currency_digits);
    GL_AUTOFREE char *most
        = exact_units_text (page->most, site->currency_digits);
    GL_AUTOFREE char *hint = xasprintf ("%s at most; %s of it in hours that "
                                        "agents measured",
                                        site->currency, least);

    report_figure (page->report, "Could be saved", most, hint, COLUMN_MONEY);
    report_note (page->report, NOTE_INFORMATION,
                 "Judged are jobs that completed, if agents measured at least "
                 "half of their GPU hours. Not listed: jobs whose size fits.");
}

report_t *rightsize_make (rightsize_t *r)
{
    struct page page
        = {.r = r,
           .report = report_begin (r->query, "rightsize", "GPU right-sizing")};

    mpz_inits (page.least, page.most, NULL);
    report_columns (page.report, columns, AT_COUNT);
    rightsize_advise (r);
    put_families (&page);
    add_figures (&page);
    mpz_clears (page.least, page.most, NULL);
    return page.report;
}
