/* analysis_private.h: between the files of planning/analysis.h. */
#ifndef GL_PLANNING_ANALYSIS_PRIVATE_H
#define GL_PLANNING_ANALYSIS_PRIVATE_H

#include "planning/analysis.h"

#define ANALYSIS_HOURS_OF_YEAR 8760
#define ANALYSIS_BIT(input) (1U << (input))

/* What a kind takes and makes. */
typedef struct {
    const char *word;
    const char *title;
    const char *left_out;
    unsigned needs; /* bits of inputs */
    unsigned takes; /* may be given besides */
    unsigned together[2]; /* all of these or none; 0: no such */
    void (*compute) (const site_analysis_t *entry, analysis_t *analysis);
} analysis_spec_t;

/* analysis_kinds.c: by analysis_kind_t. */
const analysis_spec_t *analysis_spec (int kind);

#endif /* !GL_PLANNING_ANALYSIS_PRIVATE_H */
