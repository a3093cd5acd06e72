/*
 * announce.h: what a step finds in its environment: the job's project and
 * what its devices on this node cost an hour (docs/formats/prices.md). From
 * local files that the prolog and the agent keep; nothing here can fail a step.
 */
#ifndef GL_PLUGIN_ANNOUNCE_H
#define GL_PLUGIN_ANNOUNCE_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

/* Set GPULEDGER_PROJECT, so that a submission in this step takes it for
 * inherited and the user's own default still is what it was (options.h). */
void announce_project (spank_t sp, const char *spool, uint32_t job);

/* Set GPULEDGER_PRICE_PER_HOUR of the devices `gpus`, Slurm's indices; take
 * away what an outer step was told where the price is not known. NULL: none. */
void announce_price (spank_t sp, const char *spool, const char *gpus);

#endif /* !GL_PLUGIN_ANNOUNCE_H */
