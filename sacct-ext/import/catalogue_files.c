#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "import/catalogue_files.h"
#include "planning/breakeven.h"

#define SHIPPED PKGDATADIR "/catalogue.csv"
#define EGRESS "egress.csv"

int catalogue_file_read (const char *file, bool may_miss,
                         catalogue_t *catalogue, catalogue_findings_t *findings,
                         gl_error_t *error)
{
    FILE *stream = fopen (file, "re");
    int rc;

    if (!stream && may_miss && errno == ENOENT)
        return 0;
    if (!stream)
        return gl_error (error, "cannot read the catalogue of prices %s: %s",
                         file, strerror (errno));
    rc = catalogue_read (catalogue, stream, file, findings, error);
    fclose (stream);
    return rc;
}

/* The site's own file is made by the first import. */
int catalogue_files_read (const site_t *site, catalogue_t *ret_catalogue,
                          catalogue_findings_t *findings, gl_error_t *error)
{
    const site_prices_t *files = &site->prices;
    const char *shipped = files->shipped ? files->shipped : SHIPPED;
    gl_error_t why;

    *ret_catalogue = (catalogue_t){.count = 0};
    if (catalogue_file_read (shipped, false, ret_catalogue, findings, &why) < 0)
        return gl_error (error, "%s%s", why.text,
                         files->shipped ? ""
                                        : "; prices.shipped of the "
                                          "configuration names another file");
    if (files->file
        && catalogue_file_read (files->file, true, ret_catalogue, findings,
                                error)
               < 0)
        return -1;
    catalogue_sort (ret_catalogue);
    return 0;
}

/* Next to the catalogue that comes with the program. */
int catalogue_egress_read (const site_t *site, catalogue_t *ret_catalogue,
                           catalogue_findings_t *findings, gl_error_t *error)
{
    const char *shipped
        = site->prices.shipped ? site->prices.shipped : SHIPPED;
    const char *slash = strrchr (shipped, '/');
    GL_AUTOFREE char *file
        = xasprintf ("%.*s" EGRESS, slash ? (int)(slash + 1 - shipped) : 0,
                     shipped);

    *ret_catalogue = (catalogue_t){.kind = CATALOGUE_EGRESS};
    if (catalogue_file_read (file, true, ret_catalogue, findings, error) < 0)
        return -1;
    catalogue_sort (ret_catalogue);
    return 0;
}

static int64_t day_of (const site_t *site, int64_t instant)
{
    civil_t civil;

    if (instant == BREAKEVEN_UNDATED)
        return INT64_MAX;
    civil = zone_civil (site->zone, instant);
    return calendar_day_number (civil.year, civil.month, civil.day);
}

static int price_egress (site_t *site, int64_t instant, gl_error_t *error)
{
    catalogue_t catalogue;
    int rc = catalogue_egress_read (site, &catalogue, NULL, error);

    if (rc == 0)
        catalogue_fill_egress (&catalogue, site, day_of (site, instant));
    catalogue_clear (&catalogue);
    return rc;
}

int catalogue_price_clouds (site_t *site, int64_t instant, gl_error_t *error)
{
    catalogue_t catalogue;
    int rc;

    if (!GL_ANY (site->clouds, site->cloud_count, it, it->catalogue != NULL))
        return 0;
    rc = catalogue_files_read (site, &catalogue, NULL, error);
    if (rc == 0)
        rc = catalogue_fill_clouds (&catalogue, site, day_of (site, instant),
                                    error);
    catalogue_clear (&catalogue);
    return rc == 0 ? price_egress (site, instant, error) : rc;
}
