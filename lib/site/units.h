/*
 * units.h: what jobs produce, counted in units of the site's choice: tokens, images,
 * training runs. A job says how many by `gpuledger units`, by a label when it is
 * submitted (units.NAME=QUANTITY), or by a counter that the agent reads. Pure.
 */
#ifndef GL_SITE_UNITS_H
#define GL_SITE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/tag.h"
#include "site/site.h"

/* Of one unit in one job, at most. */
#define UNIT_QUANTITY_MAX INT64_C (1000000000000000000)
/* A label that begins so reports units. */
#define UNIT_LABEL_PREFIX "units."

typedef struct {
    char name[TAG_MAX + 1];
    int64_t quantity; /* 0 to UNIT_QUANTITY_MAX */
} unit_count_t;

/* "tokens=1.2e9": the name is a tag, the quantity a decimal that is a whole number.
 * Where the site lists units it is one of them. */
int unit_parse (const site_t *site, const char *text, unit_count_t *ret,
                gl_error_t *error);

/* The same of the labels of a job, "k=v,k=v" (NULL: none): start with *cursor = labels;
 * false at the end. Labels of other names and those that are no units are passed
 * over. */
bool unit_next_label (const site_t *site, const char **cursor,
                      unit_count_t *ret);

/* The site has this unit, or no list. */
bool unit_known (const site_t *site, const char *name);
/* The cost is given for so many of them. */
int64_t unit_per (const site_t *site, const char *name);
/* For people: "million tokens", "image". Yours to free. */
char *unit_title (const site_t *site, const char *name);

#endif /* !GL_SITE_UNITS_H */
