/*
 * zone_table.h: the offsets that make up a zone, from a file of the zone
 * database or from a POSIX rule. Private to base/zone.
 *
 * A table holds, in ascending order, the instants at which the offset changes,
 * from 1970-01-01 to 2100-01-01; its first entry is at 1970-01-01 once anything
 * was added at or before it. Pure functions.
 */
#ifndef GL_BASE_ZONE_TABLE_H
#define GL_BASE_ZONE_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t instant; /* from here on ... */
    int offset;      /* ... this offset holds: seconds east of UTC */
} zone_change_t;

typedef struct {
    zone_change_t *change; /* yours to free */
    size_t count;
} zone_table_t;

/* What a rule as TZ has them says from `from` on (POSIX.1-2017, 8.3; hours of a
 * time -167..167 as in RFC 9636, 3.3.1): "CET-1CEST,M3.5.0,M10.5.0/3". Without
 * dates the clock changes as in the United States since 2007. -1: it is no rule,
 * and nothing was added. */
int zone_table_add_rule (zone_table_t *table, const char *rule, int64_t from);

/* A file of the zone database (RFC 9636), with the rule behind its last change.
 * Leap seconds are not counted, as in POSIX time. -1: it is damaged. */
int zone_table_add_file (zone_table_t *table, const void *bytes, size_t length);

#endif /* !GL_BASE_ZONE_TABLE_H */
