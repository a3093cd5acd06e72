/* meter.c: any text as readings of a meter. What is taken stands in the order of
 * time, without overlap, and is energy that a counter can show. */
#include "fuzz/fuzz.h"
#include "import/import_meter.h"

static void check_readings (const meter_file_t *file)
{
    for (size_t i = 0; i < file->count; i++) {
        const meter_reading_t *reading = &file->reading[i];
        REQUIRE (reading->period.start < reading->period.end);
        REQUIRE (i == 0 || file->reading[i - 1].period.end
                               <= reading->period.start);
        REQUIRE (reading->energy_mwh <= (uint64_t)INT64_MAX);
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static zone_t *zone;
    gl_error_t error = {0};
    meter_file_t file;
    FILE *stream;

    if (!zone)
        REQUIRE ((zone = zone_open ("Europe/Oslo", &error)));
    if (size == 0)
        return 0; /* some fmemopen() refuse it */
    REQUIRE ((stream = fmemopen ((void *)data, size, "r")));
    if (import_meter (stream, "input", "pdu", zone, &file, &error) < 0)
        REQUIRE (strncmp (error.text, "input", 5) == 0 && file.count == 0);
    else
        check_readings (&file);
    import_meter_free (&file);
    fclose (stream);
    return 0;
}
