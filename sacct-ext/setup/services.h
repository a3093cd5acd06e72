/*
 * services.h: units of systemd, enabled and disabled by setup.
 *
 * Units that are not installed are left out. In an image they are enabled without being
 * started. On a host where systemd does not run, the administrator gets the command.
 */
#ifndef GL_SETUP_SERVICES_H
#define GL_SETUP_SERVICES_H

#include <sys/types.h>

#include "setup/setup.h"

/* `units` ends with NULL. */
setup_state_t services_look (const changes_t *changes, const char *const *units,
                             buffer_t *finding);
setup_result_t services_enable (changes_t *changes, const char *const *units,
                                buffer_t *finding, gl_error_t *error);
/* Those that setup enabled. */
setup_result_t services_disable (changes_t *changes, const char *const *units,
                                 buffer_t *finding, gl_error_t *error);

/* The main process of a service that runs; 0: it does not, or in an image. */
pid_t services_process (const changes_t *changes, const char *unit);

#endif /* !GL_SETUP_SERVICES_H */
