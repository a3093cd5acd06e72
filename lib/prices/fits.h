/*
 * fits.h: which GPUs have the memory that a model needs, how many, and what they cost: the
 * pools at the rate of the cost book, and the catalogue's prices (docs/guides/decisions.md, F14).
 * Pure.
 */
#ifndef GL_PRICES_FITS_H
#define GL_PRICES_FITS_H

#include "prices/catalogue.h"
#include "report/report.h"

typedef enum { RECOMPUTE_NONE, RECOMPUTE_ATTENTION, RECOMPUTE_ALL } recompute_t;

/* Numbers are texts; NULL: a default, or of the shape that of the published model that is
 * nearest in size. */
typedef struct {
    const char *parameters;      /* 70e9, 70B, 700M; required */
    const char *precision;       /* of weights and gradients; bf16 */
    bool train;                  /* else it serves */
    const char *optimizer_bytes; /* of a parameter; 12, with fp32 8 */
    recompute_t recompute;
    const char *context; /* tokens of a sequence */
    const char *batch;   /* sequences at once, of all GPUs */
    const char *layers, *hidden, *heads, *kv_heads;
    const char *headroom; /* share of a GPU's memory that stays free, below 1 */
    const char *gpu;      /* as of catalogue_is_gpu(); NULL: any */
    int64_t day;          /* of the prices */
} fits_query_t;

/* NULL with an error: a number that is none or out of range, a shape that cannot be, no
 * such GPU. The error names the option. */
report_t *fits_report (const site_t *site, const catalogue_t *catalogue,
                       const fits_query_t *query, gl_error_t *error);

#endif /* !GL_PRICES_FITS_H */
