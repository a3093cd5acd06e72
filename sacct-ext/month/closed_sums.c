#include "base/memory.h"
#include "month/closed_sums.h"

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    line_item_sums_add (arg, row);
    return 0;
}

int closed_sums (store_t *store, const closing_t *closing,
                 line_item_sums_f wants, void *arg, line_item_sums_t **ret_sums,
                 gl_error_t *error)
{
    GL_AUTOFREE char *timezone = body_get (closing->body, "timezone");
    zone_t *zone = zone_open (timezone ? timezone : "UTC", error);
    line_item_sums_t *sums;
    int rc;

    if (!zone)
        return gl_error_prefix (error, "%s", closing->month);
    sums = line_item_sums_new (zone, wants, arg);
    rc = periods_line_items (store, closing, &line_item_sums_want, take_row,
                             sums, error);
    zone_close (zone);
    if (rc < 0)
        line_item_sums_free (sums);
    else
        *ret_sums = sums;
    return rc;
}
