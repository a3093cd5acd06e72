#include "facts/as_of.h"

int as_of_check (const as_of_t *a, gl_error_t *error)
{
    char as_of[ZONE_STAMP_SIZE], other[ZONE_STAMP_SIZE];

    zone_stamp (a->zone, a->as_of, as_of);
    if (a->as_of > a->now + AS_OF_SKEW)
        return gl_error (error,
                         "%s says %s, but the clock of this host says %s; "
                         "running jobs would be charged up to a time in the "
                         "future. Nothing is stored: correct it, or give "
                         "--force",
                         a->said_by, as_of,
                         zone_stamp (a->zone, a->now, other));
    if (a->newest && a->as_of > a->newest + AS_OF_SILENCE)
        return gl_error (error,
                         "%s says %s, %lld days after the newest time in %s "
                         "(%s); running jobs would be charged up to then. "
                         "Nothing is stored: give the time of the copy as "
                         "--as-of, or --force if nothing happened since",
                         a->said_by, as_of,
                         (long long)((a->as_of - a->newest) / 86400), a->source,
                         zone_stamp (a->zone, a->newest, other));
    return 0;
}
