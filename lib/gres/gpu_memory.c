#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "gres/gpu_memory.h"

/* As in the vendors' data sheets; where clouds report less of it, the least that was
 * seen. */
static const struct {
    const char *model;
    int gb;
} models[] = {
    {"A10", 24},          {"A10G", 22},    {"A30", 24},
    {"A40", 48},          {"B200", 179},   {"B300", 262},
    {"GB200", 186},       {"GB300", 278},  {"H200", 141},
    {"L4", 22},           {"L40", 48},     {"L40S", 45},
    {"MI210", 64},        {"MI300A", 128}, {"MI300X", 192},
    {"MI325X", 256},      {"MI355X", 288}, {"RTX-PRO-4500", 32},
    {"RTX-PRO-6000", 96}, {"T4", 16},
};

#define GB_MAX 100000

/* The number before a last "GB", behind '-'. */
static int last_part (const char *model)
{
    const char *part = strrchr (model, '-');
    char *end;
    long gb;

    if (!part || !isdigit ((unsigned char)part[1]))
        return 0;
    gb = strtol (part + 1, &end, 10);
    return strcasecmp (end, "GB") == 0 && gb < GB_MAX ? (int)gb : 0;
}

int gpu_memory_gb (const char *model)
{
    int gb = last_part (model);

    for (size_t i = 0; i < GL_ARRAY_SIZE (models) && gb == 0; i++)
        if (strcasecmp (models[i].model, model) == 0)
            gb = models[i].gb;
    return gb;
}
