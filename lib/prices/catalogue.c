/* The order of a catalogue, and what is found in it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "prices/catalogue.h"

/* --- order ------------------------------------------------------------------ */

static const catalogue_cell_t offer_cells[]
    = {CELL_PROVIDER, CELL_INSTANCE, CELL_REGION, CELL_PLAN};

static int compare_offers (const catalogue_row_t *a, const catalogue_row_t *b)
{
    int order = 0;

    for (size_t i = 0; i + 1 < GL_ARRAY_SIZE (offer_cells) && order == 0; i++)
        order = strcmp (a->cell[offer_cells[i]], b->cell[offer_cells[i]]);
    if (order == 0)
        order = mpq_cmp (a->above, b->above);
    return order ? order : strcmp (a->cell[CELL_PLAN], b->cell[CELL_PLAN]);
}

bool catalogue_same_offer (const catalogue_row_t *a, const catalogue_row_t *b)
{
    return compare_offers (a, b) == 0;
}

int catalogue_compare (const catalogue_row_t *a, const catalogue_row_t *b)
{
    int order = compare_offers (a, b);

    return order ? order : (a->day > b->day) - (a->day < b->day);
}

/* Rows with the same key in the order in which they were read. */
static int by_offer_and_day (const void *a, const void *b)
{
    const catalogue_row_t *one = a, *other = b;
    int order = catalogue_compare (one, other);

    if (order == 0)
        order = strcmp (one->file, other->file);
    return order ? order
                 : (one->line > other->line) - (one->line < other->line);
}

void catalogue_sort (catalogue_t *catalogue)
{
    if (catalogue->count > 0)
        qsort (catalogue->row, catalogue->count, sizeof (*catalogue->row),
               by_offer_and_day);
}

static int by_key (const void *a, const void *b)
{
    return catalogue_compare (a, b);
}

const catalogue_row_t *catalogue_find (const catalogue_t *catalogue,
                                       const catalogue_row_t *row)
{
    return catalogue->count > 0 ? bsearch (
               row, catalogue->row, catalogue->count, sizeof (*row), by_key)
                                : NULL;
}

size_t catalogue_offer_end (const catalogue_t *catalogue, size_t at)
{
    size_t end = at;

    while (end < catalogue->count
           && catalogue_same_offer (&catalogue->row[at], &catalogue->row[end]))
        end++;
    return end;
}

const catalogue_row_t *catalogue_newest (const catalogue_t *catalogue,
                                         size_t from, size_t to, int64_t day)
{
    const catalogue_row_t *newest = NULL;

    for (size_t i = from; i < to && catalogue->row[i].day <= day; i++)
        newest = &catalogue->row[i];
    return newest;
}

/* --- age -------------------------------------------------------------------- */

int64_t catalogue_age_days (const catalogue_row_t *row, int64_t day)
{
    return day > row->day ? day - row->day : 0;
}

catalogue_age_t catalogue_age (const catalogue_row_t *row, int64_t day)
{
    if (calendar_is_past (row->day, CATALOGUE_MAX_MONTHS, day))
        return PRICE_EXPIRED;
    return catalogue_age_days (row, day) > CATALOGUE_WARN_DAYS ? PRICE_AGEING
                                                               : PRICE_CURRENT;
}

/* --- names ------------------------------------------------------------------ */

/* What follows the name and its separator; NULL: another name begins the path. */
static const char *behind (const char *path, const char *name)
{
    size_t length = strlen (name);

    if (strncmp (path, name, length) != 0)
        return NULL;
    return path[length] == '/'    ? path + length + 1
           : path[length] == '\0' ? path + length
                                  : NULL;
}

bool catalogue_in_path (const catalogue_row_t *row, const char *path)
{
    for (size_t i = 0; i <= CELL_REGION && path && *path; i++)
        if (*row->cell[i])
            path = behind (path, row->cell[i]);
    return path && !*path;
}

/* The parts of a model are between '-'. */
static bool has_part (const char *model, const char *part, size_t length)
{
    for (size_t size; *model; model += size + (model[size] == '-')) {
        size = strcspn (model, "-");
        if (size == length && strncasecmp (model, part, length) == 0)
            return true;
    }
    return false;
}

bool catalogue_is_gpu (const char *model, const char *name)
{
    for (size_t size; *name; name += size + (name[size] == '-')) {
        size = strcspn (name, "-");
        if (!has_part (model, name, size))
            return false;
    }
    return true;
}

#define COMMITTED "committed"

bool catalogue_has_plan (const catalogue_row_t *row, const char *plan)
{
    const char *own = row->cell[CELL_PLAN];

    return strcmp (own, plan) == 0
           || (strcmp (plan, COMMITTED) == 0
               && strncmp (own, COMMITTED, strlen (COMMITTED)) == 0);
}

/* "-1y", "-36m" */
static bool is_term (const char *text)
{
    size_t digits = *text == '-' ? strspn (text + 1, "0123456789") : 0;

    return digits >= 1 && digits <= 3 && text[1] != '0'
           && (text[digits + 1] == 'y' || text[digits + 1] == 'm')
           && text[digits + 2] == '\0';
}

int catalogue_check_plan (const char *plan, gl_error_t *error)
{
    size_t length = strlen (COMMITTED);

    if (strcmp (plan, "on-demand") == 0 || strcmp (plan, "spot") == 0
        || (strncmp (plan, COMMITTED, length) == 0
            && (!plan[length] || is_term (plan + length))))
        return 0;
    return gl_error (error, "it must be a plan: on-demand, spot, committed, or "
                            "with its term committed-1y, committed-36m");
}
