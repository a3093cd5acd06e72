/* reconcile_private.h: what the files of reconcile_*.c share. */
#ifndef GL_EVIDENCE_RECONCILE_PRIVATE_H
#define GL_EVIDENCE_RECONCILE_PRIVATE_H

#include "evidence/reconcile.h"

const zone_t *reconcile_zone (const reconcile_t *reconcile);

/* The segment that ends last of those of the JobId in hand. */
typedef struct {
    char *cluster;   /* NULL: none yet */
    uint64_t id_job;
    period_t allocated;
    uint64_t devices;
} reconcile_before_t;
reconcile_before_t *reconcile_before (reconcile_t *reconcile);

/* device-seconds of a holder of `devices` in [start, end) within the period */
unsigned __int128 device_seconds (uint64_t devices, int64_t start, int64_t end,
                                  period_t period);
uint64_t segment_devices (const segment_t *segment);

#endif /* !GL_EVIDENCE_RECONCILE_PRIVATE_H */
