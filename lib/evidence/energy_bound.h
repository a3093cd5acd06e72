/*
 * energy_bound.h: how much energy a node may report of a device.
 *
 * A node that is broken or lies could put any bill on a job whose pool charges
 * measured energy. No GPU draws more than its model's limit for longer than a
 * moment: of a stretch of usage that claims more, the energy is unknown.
 *
 * The model is that of the node's pool (`gpu`, else the words of its GRES
 * types); of several pools the largest counts, because a stretch does not say
 * which. A slice may use what its GPU may: alone on the card it is given all of
 * it.
 */
#ifndef GL_EVIDENCE_ENERGY_BOUND_H
#define GL_EVIDENCE_ENERGY_BOUND_H

#include <stdbool.h>

#include "site/segment.h"
#include "site/site.h"

/* Of a model that is not listed, and of nodes in no pool: the agent's own
 * limit, above every GPU that is sold. */
#define ENERGY_WATTS_UNKNOWN 2000
/* A counter is read late, and a limit is exceeded for moments. */
#define ENERGY_BOUND_PERCENT 110
#define ENERGY_BOUND_SLACK_MS 10000

/* The most that a GPU of that model draws; NULL and models that are not listed:
 * ENERGY_WATTS_UNKNOWN. */
unsigned energy_model_watts (const char *model);

/* Both texts name a listed model, and not the same one. */
bool gpu_models_differ (const char *a, const char *b);

typedef struct energy_bound energy_bound_t;

/* `site` must outlive it; NULL: every model is unknown. */
energy_bound_t *energy_bound_new (const site_t *site);
void energy_bound_free (energy_bound_t *bound); /* accepts NULL */

/* The limit of the usage's node, watts. */
unsigned energy_bound_watts (energy_bound_t *bound,
                             const device_usage_t *usage);

/* Makes impossible energy unknown, and says so in energy_refused_mj. True: it
 * was. */
bool energy_bound_apply (energy_bound_t *bound, device_usage_t *usage);

#endif /* !GL_EVIDENCE_ENERGY_BOUND_H */
