#include <stdio.h>
#include <string.h>

#include "record/segment.h"
#include "record/spool.h"

#define DIGITS 8

uint32_t segment_number (const char *name)
{
    uint32_t number = 0;

    for (int i = 0; i < DIGITS; i++) {
        if (name[i] < '0' || name[i] > '9')
            return 0;
        number = number * 10 + (name[i] - '0');
    }
    return strcmp (name + DIGITS, SPOOL_SUFFIX) == 0 ? number : 0;
}

void segment_name (uint32_t number, char ret_name[SEGMENT_NAME_SIZE])
{
    snprintf (ret_name, SEGMENT_NAME_SIZE, "%08u" SPOOL_SUFFIX, number);
}
