/* What is wrong with rows that can be read. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "prices/catalogue.h"

/* --- findings --------------------------------------------------------------- */

void catalogue_add_finding (catalogue_findings_t *findings, const char *word,
                            const char *file, size_t line, const char *fmt, ...)
{
    catalogue_finding_t *finding = GL_APPEND (findings->item, findings->count);
    char text[GL_ERROR_SIZE];
    va_list args;

    va_start (args, fmt);
    vsnprintf (text, sizeof (text), fmt, args);
    va_end (args);
    *finding = (catalogue_finding_t){word, xasprintf ("%s:%zu", file, line),
                                     xstrdup (text)};
}

static void free_finding (catalogue_finding_t *finding)
{
    free (finding->place);
    free (finding->text);
}

void catalogue_findings_clear (catalogue_findings_t *findings)
{
    GL_FREE_EACH (findings->item, findings->count, it, free_finding (it));
    *findings = (catalogue_findings_t){.count = 0};
}

#define FOUND(findings, word, row, ...)                              \
    catalogue_add_finding (findings, word, (row)->file, (row)->line, \
                           __VA_ARGS__)

/* --- GPU models --------------------------------------------------------------- */

/* Models with their form, since H100 PCIe, NVL and SXM are different GPUs; without
 * one where there is one form, or where clouds do not say which. */
static const char *const models[] = {
    "A10",
    "A100-PCIe-40GB",
    "A100-PCIe-80GB",
    "A100-SXM4-40GB",
    "A100-SXM4-80GB",
    "A10G",
    "A30",
    "A40",
    "B200",
    "B300",
    "GB200",
    "GB300",
    "GH200",
    "H100-NVL-94GB",
    "H100-PCIe-80GB",
    "H100-SXM5-80GB",
    "H20",
    "H200",
    "H200-NVL-141GB",
    "H200-SXM5-141GB",
    "L4",
    "L40",
    "L40S",
    "MI250X",
    "MI300A",
    "MI300X",
    "MI325X",
    "MI350X",
    "MI355X",
    "RTX-4090",
    "RTX-5090",
    "RTX-6000-Ada",
    "RTX-A6000",
    "RTX-PRO-4500",
    "RTX-PRO-6000",
    "T4",
    "V100-16GB",
    "V100-32GB",
};

static bool is_model (const char *gpu)
{
    return GL_ANY (models, GL_ARRAY_SIZE (models), it, !strcmp (*it, gpu));
}

static void check_model (const catalogue_row_t *row,
                         catalogue_findings_t *findings)
{
    const char *gpu = row->cell[CELL_GPU];
    nearest_t nearest = {.word = gpu};

    if (is_model (gpu))
        return;
    for (size_t i = 0; i < GL_ARRAY_SIZE (models); i++)
        nearest_offer (&nearest, models[i]);
    for (size_t i = 0; i < GL_ARRAY_SIZE (models) && !nearest.name; i++)
        if (!strncasecmp (models[i], gpu, strlen (gpu)))
            nearest.name = models[i];
    FOUND (findings, "unknown-gpu", row, "'%.60s' is no GPU model%s%s%s", gpu,
           nearest.name ? "; did you mean '" : "",
           nearest.name ? nearest.name : "", nearest.name ? "'?" : "");
}

/* --- offers ------------------------------------------------------------------- */

static void check_duplicates (const catalogue_t *catalogue, size_t from,
                              size_t to, catalogue_findings_t *findings)
{
    for (size_t i = from + 1; i < to; i++) {
        const catalogue_row_t *row = &catalogue->row[i], *before = row - 1;
        if (row->day == before->day)
            FOUND (findings, "duplicate", row,
                   "%s:%zu has a price of %s for the same offer: remove one",
                   before->file, before->line, before->cell[CELL_AS_OF]);
    }
}

/* Earlier prices of an offer are history and may be of any age. */
static void check_age (const catalogue_row_t *newest, int64_t day,
                       catalogue_findings_t *findings)
{
    if (newest->day > day)
        FOUND (findings, "future", newest,
               "the price is of %s, which is to come: correct as_of",
               newest->cell[CELL_AS_OF]);
    else if (catalogue_age (newest, day) == PRICE_EXPIRED)
        FOUND (findings, "too-old", newest,
               "the newest price of the offer is of %s, %lld days old: add a "
               "row with today's",
               newest->cell[CELL_AS_OF],
               (long long)catalogue_age_days (newest, day));
}

static void check_currency (const catalogue_row_t *first,
                            const catalogue_row_t *row,
                            catalogue_findings_t *findings)
{
    if (strcmp (first->cell[CELL_CURRENCY], row->cell[CELL_CURRENCY]) != 0)
        FOUND (findings, "currencies", row,
               "the price is in %s and that of %s:%zu in %s: prices in two "
               "currencies cannot be compared",
               row->cell[CELL_CURRENCY], first->file, first->line,
               first->cell[CELL_CURRENCY]);
}

void catalogue_check (const catalogue_t *catalogue, int64_t day,
                      catalogue_findings_t *findings)
{
    for (size_t at = 0, end; at < catalogue->count; at = end) {
        end = catalogue_offer_end (catalogue, at);
        check_duplicates (catalogue, at, end, findings);
        check_age (&catalogue->row[end - 1], day, findings);
    }
    for (size_t i = 0; i < catalogue->count; i++) {
        if (catalogue->kind == CATALOGUE_GPUS)
            check_model (&catalogue->row[i], findings);
        check_currency (&catalogue->row[0], &catalogue->row[i], findings);
    }
}
