/* json.c: any bytes as JSON of sacct or slurmrestd, one job or many. No text of
 * a segment has a control character, and no name stops the reading of others.
 */
#include "fuzz/import_bytes.h"

static int take (const segment_t *s, void *arg, gl_error_t *error)
{
    (void)arg;
    (void)error;
    fuzz_import_check (s);
    fuzz_import_plain (s->cluster);
    fuzz_import_plain (s->user);
    fuzz_import_plain (s->account);
    fuzz_import_plain (s->partition);
    fuzz_import_plain (s->qos);
    fuzz_import_plain (s->wckey);
    fuzz_import_plain (s->reservation);
    fuzz_import_plain (s->nodelist);
    fuzz_import_plain (s->job_name);
    fuzz_import_plain (s->admin_comment);
    return 0;
}

/* The input as the name of a job, as sacct would print it. */
static void check_name (const uint8_t *data, size_t size)
{
    static const char head[]
        = "{\"jobs\":[{\"job_id\":1,\"state\":{\"current\":"
          "\"COMPLETED\"},\"time\":{\"submission\":1,"
          "\"start\":1,\"end\":2},\"name\":\"";
    static const char tail[] = "\"}]}";
    char *text = malloc (sizeof (head) + 6 * size + sizeof (tail));
    size_t length = sizeof (head) - 1;

    REQUIRE (text);
    memcpy (text, head, length);
    for (size_t i = 0; i < size && data[i]; i++) {
        if (data[i] == '"' || data[i] == '\\')
            text[length++] = '\\';
        if (data[i] < 0x20 && i % 2) /* escaped, as json-c does it, or raw */
            length += sprintf (text + length, "\\u%04x", data[i]);
        else
            text[length++] = (char)data[i];
    }
    memcpy (text + length, tail, sizeof (tail) - 1);
    length += sizeof (tail) - 1;
    REQUIRE (fuzz_import (text, length, false, take, NULL) == 0);
    free (text);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (size > 0 && (data[0] == '{' || data[0] == '['))
        fuzz_import (data, size, false, take, NULL);
    check_name (data, size);
    return 0;
}
