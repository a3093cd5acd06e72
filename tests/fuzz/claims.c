/* claims.c: any text as a file of published figures. What is read is judged:
 * every figure has a finding, every claim a verdict; what is refused says where. */
#include <sys/mman.h>
#include <unistd.h>

#include "command/claims.h"
#include "fuzz/fuzz.h"

static void check_claim (const claim_t *claim)
{
    REQUIRE (claim->id);
    REQUIRE (claim_verdict_word (claim->verdict));
    for (size_t i = 0; i < claim->figure_count; i++) {
        const claim_figure_t *figure = &claim->figure[i];
        REQUIRE (figure->name && figure->expression);
        REQUIRE (claim_finding_word (figure->finding));
        REQUIRE ((figure->finding == CLAIM_UNPRINTED)
                 == !figure->printed.given);
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
    claim_t *claims;
    size_t count;
    char path[32];
    int fd = make_file (data, size, path);

    if (claims_read (path, &claims, &count, &error) < 0)
        REQUIRE (strncmp (error.text, path, strlen (path)) == 0);
    else {
        REQUIRE (count > 0);
        for (size_t i = 0; i < count; i++)
            check_claim (&claims[i]);
        claims_free (claims, count);
    }
    close (fd);
    return 0;
}
