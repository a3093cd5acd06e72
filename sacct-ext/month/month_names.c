#include <string.h>

#include "month/month_names.h"
#include "month/periods.h"

static bool has_name (const bill_t *bill, key_id_t key, const char *name)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        const char *has = key == KEY_TEAM ? rows[i].team : rows[i].pool;
        if (has && !strcmp (has, name))
            return true;
    }
    return false;
}

int billed_name (store_t *store, key_id_t key, const char *name, bool *ret_is,
                 gl_error_t *error)
{
    periods_t *periods;
    int rc = periods_read (store, &periods, error);

    *ret_is = false;
    if (rc < 0)
        return -1;
    for (size_t i = periods->closing_count; i-- > 0 && rc == 0 && !*ret_is;) {
        const closing_t *closing = &periods->closings[i];
        bill_t *bill;
        if (closing->reopened)
            continue;
        rc = periods_bill (store, closing, &bill, error);
        if (rc == 0) {
            *ret_is = has_name (bill, key, name);
            bill_free (bill);
        }
    }
    periods_free (periods);
    return rc;
}
