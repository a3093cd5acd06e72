/*
 * exposition.h: metrics in Prometheus' text exposition format, as the textfile
 * collector of node_exporter, promtool and scrapers read it.
 *
 * A family is one metric: its HELP and TYPE lines are written before its first
 * sample, and not at all when nothing is known of it. Only the types that both
 * the text format and OpenMetrics have are used. The name of a counter ends in
 * `_total`, that of a gauge which only carries labels in `_info`.
 *
 *     exposition_t e = {.out = &text};
 *     exposition_family (&e, "lab_jobs", EXPOSITION_GAUGE, "Jobs of the lab");
 *     exposition_label (&e, "user", name);
 *     exposition_number (&e, 3, 1);
 *
 * Label values are hostile text: they come out as valid UTF-8 with backslashes,
 * quotes and newlines escaped.
 */
#ifndef GL_BASE_EXPOSITION_H
#define GL_BASE_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include <gmp.h>

#include "base/buffer.h"

typedef enum { EXPOSITION_GAUGE, EXPOSITION_COUNTER } exposition_type_t;

typedef struct {
    buffer_t *out;
    /* a label that every sample carries first; NULL: none */
    const char *common_name, *common_value;
    const char *name, *help; /* of the family */
    exposition_type_t type;
    bool headed; /* HELP and TYPE are written */
    bool begun;  /* a sample is, up to its labels */
} exposition_t;

/* The samples that follow are of this metric. Borrowed until the next family.
 */
void exposition_family (exposition_t *e, const char *name,
                        exposition_type_t type, const char *help);
/* A label of the next sample. */
void exposition_label (exposition_t *e, const char *name, const char *value);
void exposition_label_number (exposition_t *e, const char *name, int64_t value);
/* Write the sample: `number` is in units of 1/`unit`, a power of ten. */
void exposition_number (exposition_t *e, int64_t number, int64_t unit);
/* The same for an exact value, rounded half-even to `digits` decimals. */
void exposition_exact (exposition_t *e, const mpq_t value, int digits);
/* After the last family: a reader sees that the file is complete. */
void exposition_end (exposition_t *e);

#endif /* !GL_BASE_EXPOSITION_H */
