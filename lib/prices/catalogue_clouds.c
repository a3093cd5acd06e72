/* Entries of `clouds` that name an offer of the catalogue. */
#include <string.h>
#include <strings.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "planning/breakeven.h"
#include "prices/catalogue.h"

/* The plan that a term means: committed-1y of 1y. */
static char *plan_of (const site_cloud_t *cloud)
{
    const char *term = cloud->term ? cloud->term : "";

    if (breakeven_has_term (cloud))
        return strcasecmp (term, "reserved") ? xasprintf ("committed-%s", term)
                                             : xstrdup ("committed");
    return xstrdup (!strcasecmp (term, "spot")
                            || !strcasecmp (term, "preemptible")
                        ? "spot"
                        : "on-demand");
}

/* The entry's as_of, of a month or year the last day of it; else the day. */
static int64_t day_of (const site_cloud_t *cloud, int64_t day)
{
    const char *asked = cloud->catalogue_as_of;
    civil_t civil;

    if (!asked || calendar_first_day (asked, &civil) < 0)
        return day;
    if (strlen (asked) < strlen ("2026-10-05")) {
        civil = civil_add_months (civil, strlen (asked) == 4 ? 12 : 1);
        return calendar_day_number (civil.year, civil.month, civil.day) - 1;
    }
    return calendar_day_number (civil.year, civil.month, civil.day);
}

static int not_found (const site_cloud_t *cloud, const char *plan,
                      const catalogue_row_t *later, gl_error_t *error)
{
    if (later)
        return gl_error (error,
                         "%s:%d: the first price of %s, %s, in the catalogue "
                         "is of %s, which is later: give it as `as_of` to "
                         "compare with it",
                         cloud->place.file, cloud->place.line, cloud->catalogue,
                         plan, later->cell[CELL_AS_OF]);
    return gl_error (error,
                     "%s:%d: the catalogue has no price of %s, %s; gpuledger "
                     "prices show lists what it has",
                     cloud->place.file, cloud->place.line, cloud->catalogue,
                     plan);
}

static const catalogue_row_t *find (const catalogue_t *catalogue,
                                    const site_cloud_t *cloud, int64_t day,
                                    gl_error_t *error)
{
    GL_AUTOFREE char *plan = plan_of (cloud);
    const catalogue_row_t *found = NULL, *later = NULL;

    for (size_t at = 0, end; at < catalogue->count && !found; at = end) {
        const catalogue_row_t *row = &catalogue->row[at];
        end = catalogue_offer_end (catalogue, at);
        if (strcmp (row->cell[CELL_PLAN], plan) != 0
            || !catalogue_in_path (row, cloud->catalogue))
            continue;
        found = catalogue_newest (catalogue, at, end, day);
        later = row;
    }
    if (!found)
        not_found (cloud, plan, later, error);
    return found;
}

static int check_row (const site_t *site, const site_cloud_t *cloud,
                      const catalogue_row_t *row, gl_error_t *error)
{
    if (strcmp (row->cell[CELL_CURRENCY], site->currency) != 0)
        return gl_error (error,
                         "%s:%d: the price of %s is in %s and the ledger in "
                         "%s: give per_gpu_hour, as_of and source instead",
                         cloud->place.file, cloud->place.line, cloud->catalogue,
                         row->cell[CELL_CURRENCY], site->currency);
    if (!catalogue_is_gpu (cloud->gpu, row->cell[CELL_GPU]))
        return gl_error (error,
                         "%s:%d: `gpu` is %s, and %s has %s (%s:%zu), which "
                         "is another GPU",
                         cloud->place.file, cloud->place.line, cloud->gpu,
                         cloud->catalogue, row->cell[CELL_GPU], row->file,
                         row->line);
    return 0;
}

static void fill (site_cloud_t *cloud, const catalogue_row_t *row)
{
    mpq_set (cloud->per_gpu_hour, row->per_gpu_hour);
    free (cloud->as_of);
    free (cloud->source);
    cloud->as_of = xstrdup (row->cell[CELL_AS_OF]);
    if (!cloud->provider)
        cloud->provider
            = xstrndup (cloud->catalogue, strcspn (cloud->catalogue, "/"));
    cloud->source = xasprintf ("catalogue %s, %s: %s", cloud->catalogue,
                               row->cell[CELL_PLAN], row->cell[CELL_SOURCE]);
}

static int fill_cloud (const catalogue_t *catalogue, const site_t *site,
                       site_cloud_t *cloud, int64_t day, gl_error_t *error)
{
    const catalogue_row_t *row;

    if (!cloud->filled)
        cloud->catalogue_as_of = GL_TAKE (cloud->as_of);
    cloud->filled = true;
    row = find (catalogue, cloud, day_of (cloud, day), error);
    if (!row || check_row (site, cloud, row, error) < 0)
        return -1;
    fill (cloud, row);
    return 0;
}

int catalogue_fill_clouds (const catalogue_t *catalogue, site_t *site,
                           int64_t day, gl_error_t *error)
{
    for (size_t i = 0; i < site->cloud_count; i++)
        if (site->clouds[i].catalogue
            && fill_cloud (catalogue, site, &site->clouds[i], day, error) < 0)
            return -1;
    return 0;
}

/* --- traffic ----------------------------------------------------------------- */

/* PROVIDER/INSTANCE/REGION names provider and region of the row. */
static bool leaves_from (const site_cloud_t *cloud, const catalogue_row_t *row)
{
    const char *path = cloud->catalogue;
    size_t length = strcspn (path, "/");
    const char *region = strrchr (path, '/');

    return region && region != path + length
           && strlen (row->cell[CELL_PROVIDER]) == length
           && strncmp (row->cell[CELL_PROVIDER], path, length) == 0
           && strcmp (row->cell[CELL_REGION], region + 1) == 0;
}

static void clear_egress (site_cloud_t *cloud)
{
    texts_clear (&cloud->egress.tiers);
    free (cloud->egress.as_of);
    free (cloud->egress.source);
    cloud->egress = (site_egress_t){.binary = false};
}

static void add_tier (site_cloud_t *cloud, const catalogue_row_t *row)
{
    if (cloud->egress.tiers.count == 0) {
        cloud->egress.as_of = xstrdup (row->cell[CELL_AS_OF]);
        cloud->egress.source = xasprintf ("traffic of %s/%s: %s",
                                          row->cell[CELL_PROVIDER],
                                          row->cell[CELL_REGION],
                                          row->cell[CELL_SOURCE]);
        cloud->egress.binary = strcmp (row->cell[CELL_UNIT], "GiB") == 0;
    }
    texts_add (&cloud->egress.tiers, row->cell[CELL_ABOVE]);
    texts_add (&cloud->egress.tiers, row->cell[CELL_PRICE]);
}

/* Rows are in the order of the tiers. All tiers are of one day: those of another
 * day may have other bounds. */
static void fill_egress (const catalogue_t *catalogue, const site_t *site,
                         site_cloud_t *cloud, int64_t day)
{
    int64_t newest = INT64_MIN;

    clear_egress (cloud);
    for (size_t i = 0; i < catalogue->count; i++) {
        const catalogue_row_t *row = &catalogue->row[i];
        if (leaves_from (cloud, row) && row->day <= day && row->day > newest
            && strcmp (row->cell[CELL_CURRENCY], site->currency) == 0)
            newest = row->day;
    }
    for (size_t i = 0; i < catalogue->count; i++)
        if (catalogue->row[i].day == newest
            && leaves_from (cloud, &catalogue->row[i]))
            add_tier (cloud, &catalogue->row[i]);
}

void catalogue_fill_egress (const catalogue_t *catalogue, site_t *site,
                            int64_t day)
{
    for (size_t i = 0; i < site->cloud_count; i++)
        if (site->clouds[i].catalogue)
            fill_egress (catalogue, site, &site->clouds[i], day);
}
