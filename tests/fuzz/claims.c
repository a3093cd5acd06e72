/* claims.c: any text as a file of published figures. What is read is judged:
 * every figure has a finding, every claim a verdict; what is refused says where. */
#include <sys/mman.h>
#include <unistd.h>

#include "import/claims.h"
#include "fuzz/fuzz.h"

static void check_report (const report_t *report)
{
    REQUIRE (report->row_count > 0);
    for (size_t i = 0; i < report->row_count; i++) {
        REQUIRE (report_cell (report, i, 0)); /* case */
        REQUIRE (report_cell (report, i, 6)); /* verdict */
        REQUIRE (!report_cell (report, i, 1) == !report_cell (report, i, 5));
    }
}

/* A file without a place: it is read by its name. */
static int make_file (const uint8_t *data, size_t size, char path[32])
{
    int fd = memfd_create ("claims", MFD_CLOEXEC);

    REQUIRE (fd >= 0);
    REQUIRE (write (fd, data, size) == (ssize_t)size);
    snprintf (path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    gl_error_t error = {0};
    char path[32];
    int fd = make_file (data, size, path);
    report_t *report = claims_report (path, &error);

    if (report)
        check_report (report);
    else
        REQUIRE (strncmp (error.text, path, strlen (path)) == 0);
    report_free (report);
    close (fd);
    return 0;
}
