/* device_new.h: what sources begin with. */
#ifndef GL_AGENT_DEVICE_NEW_H
#define GL_AGENT_DEVICE_NEW_H

#include "device.h"

/* A device of which nothing is known. */
void device_unknown (device_t *device);
/* A look that saw nothing, at a device that is there. */
void sample_unknown (sample_t *sample, bool present);
/* Room for one more at the end, unknown; NULL at DEVICES_MAX. Pointers into
 * the inventory move. */
device_t *inventory_add (inventory_t *inventory);

#endif /* !GL_AGENT_DEVICE_NEW_H */
