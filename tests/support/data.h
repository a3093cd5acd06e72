/* data.h: where the test data lies; the source tree comes from make's
 * environment, or is the current directory for a test started by hand. */
#ifndef GL_TESTS_SUPPORT_DATA_H
#define GL_TESTS_SUPPORT_DATA_H

#include <stdlib.h>

#include "base/memory.h"

/* The path of tests/data/NAME; yours to free. */
static inline char *test_data (const char *name)
{
    const char *top = getenv ("abs_top_srcdir");

    return xasprintf ("%s/tests/data/%s", top ? top : ".", name);
}

#endif /* !GL_TESTS_SUPPORT_DATA_H */
