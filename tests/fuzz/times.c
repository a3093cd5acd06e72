/* times.c: any text as a moment, in zones whose clocks are put by hours and by
 * half an hour: what is taken lies between 1970 and 2099, does not depend on
 * what is asked before, and is printed as a text that means the same. */
#include "base/error.h"
#include "base/timespec.h"
#include "fuzz/fuzz.h"

#define FIRST INT64_C (0)
#define LAST INT64_C (4102444800)

static const char *const names[]
    = {"UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"};
/* around the days on which clocks are put, and the ends of what there is */
static const int64_t nows[]
    = {1792063230, 1793512800, 1775318400, 86399, 4102444799};

static void check_time (const char *text, const zone_t *zone, int64_t now)
{
    gl_error_t error = {0};
    char stamp[ZONE_STAMP_SIZE];
    int64_t instant = -77, again = -78;

    if (timespec_parse (text, zone, now, &instant, &error) < 0) {
        REQUIRE (error.text[0] && instant == -77);
        return;
    }
    REQUIRE (instant >= FIRST && instant < LAST);
    REQUIRE (timespec_parse (text, zone, now, &again, &error) == 0);
    REQUIRE (again == instant);
    zone_stamp (zone, instant, stamp);
    if (instant_parse (stamp, zone, &again, &error) == 0)
        REQUIRE (again == instant);
    /* a moment with its offset does not depend on now */
    if (timespec_parse (stamp, zone, 1000000000, &again, &error) == 0)
        REQUIRE (again == instant);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static zone_t *zones[sizeof (names) / sizeof (names[0])];
    char *text = calloc (size + 1, 1);

    REQUIRE (text);
    if (size > 0)
        memcpy (text, data, size);
    for (size_t i = 0; i < sizeof (names) / sizeof (names[0]); i++) {
        if (!zones[i])
            REQUIRE ((zones[i] = zone_open (names[i], NULL)));
        for (size_t k = 0; k < sizeof (nows) / sizeof (nows[0]); k++)
            check_time (text, zones[i], nows[k]);
    }
    free (text);
    return 0;
}
