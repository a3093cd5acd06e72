#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "command/catalogue_files.h"
#include "planning/breakeven.h"
#include "site/site.h"

#define SHIPPED PKGDATADIR "/catalogue.csv"

int catalogue_file_read (cli_t *cli, const char *file, bool may_miss,
                         catalogue_t *catalogue, catalogue_findings_t *findings)
{
    FILE *stream = fopen (file, "re");
    gl_error_t error;
    int rc;

    if (!stream && may_miss && errno == ENOENT)
        return CLI_OK;
    if (!stream)
        return cli_failf (cli, "cannot read the catalogue of prices %s: %s",
                          file, strerror (errno));
    rc = catalogue_read (catalogue, stream, file, findings, &error);
    fclose (stream);
    return rc < 0 ? cli_fail (cli, &error) : CLI_OK;
}

/* The site's own file is made by the first import. */
int catalogue_files_read (cli_t *cli, catalogue_t *ret_catalogue,
                          catalogue_findings_t *findings)
{
    const site_prices_t *files = &cli->site->prices;
    int rc;

    *ret_catalogue = (catalogue_t){.count = 0};
    rc = catalogue_file_read (cli, files->shipped ? files->shipped : SHIPPED,
                              false, ret_catalogue, findings);
    if (rc == CLI_OK && files->file)
        rc = catalogue_file_read (cli, files->file, true, ret_catalogue,
                                  findings);
    if (rc != CLI_OK)
        catalogue_clear (ret_catalogue);
    catalogue_sort (ret_catalogue);
    return rc;
}

static int64_t day_of (const cli_t *cli, int64_t instant)
{
    civil_t civil;

    if (instant == BREAKEVEN_UNDATED)
        return INT64_MAX;
    civil = zone_civil (cli->site->zone, instant);
    return calendar_day_number (civil.year, civil.month, civil.day);
}

int catalogue_clouds (cli_t *cli, int64_t instant)
{
    site_t *site = cli->site;
    catalogue_t catalogue;
    gl_error_t error;
    int rc;

    if (!GL_ANY (site->clouds, site->cloud_count, it, it->catalogue != NULL))
        return CLI_OK;
    rc = catalogue_files_read (cli, &catalogue, NULL);
    if (rc == CLI_OK
        && catalogue_fill_clouds (&catalogue, site, day_of (cli, instant),
                                  &error)
               < 0)
        rc = cli_fail (cli, &error);
    catalogue_clear (&catalogue);
    return rc;
}
