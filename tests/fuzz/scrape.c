/* scrape.c: any bytes as the answer of a server to GET /metrics. In whatever parts they
 * arrive, the result is the same, and values are counts. */
#include <stdbool.h>

#include "counters/scrape.h"
#include "fuzz/fuzz.h"

#define COUNTERS 3

struct said {
    int rc;
    scrape_counter_t counter[COUNTERS];
};

static struct said feed (const char *bytes, size_t size, size_t step)
{
    struct said said = {.counter = {{.name = "vllm:generation_tokens_total"},
                                    {.name = "vllm:prompt_tokens_total"},
                                    {.name = "images"}}};
    gl_error_t error = {0};
    scrape_t scrape;

    scrape_begin (&scrape, said.counter, COUNTERS);
    for (size_t at = 0; at < size && said.rc == 0; at += step)
        said.rc = scrape_feed (&scrape, bytes + at,
                               size - at < step ? size - at : step, &error);
    if (said.rc == 0)
        said.rc = scrape_end (&scrape, &error) == 0 ? 1 : -1;
    REQUIRE (said.rc > 0 || error.text[0]);
    return said;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct said whole = feed (bytes, size, size ? size : 1);
    struct said parts = feed (bytes, size, 1 + size % 7);

    REQUIRE (whole.rc == parts.rc);
    for (size_t i = 0; i < COUNTERS && whole.rc > 0; i++) {
        const scrape_counter_t *a = &whole.counter[i], *b = &parts.counter[i];
        REQUIRE (a->seen == b->seen && a->broken == b->broken);
        REQUIRE (a->broken || (a->value == b->value && a->value <= INT64_MAX));
        REQUIRE (a->seen || a->value == 0);
    }
    return 0;
}
