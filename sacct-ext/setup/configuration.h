/*
 * configuration.h: the step that writes gpuledger.yaml.
 *
 * It writes the file if there is none, or if it is the one that the package brings, in
 * which all is a comment. What somebody has edited is not changed: the finding then has
 * the lines to add.
 */
#ifndef GL_SETUP_CONFIGURATION_H
#define GL_SETUP_CONFIGURATION_H

#include "setup/setup.h"

/* The accounting host. */
setup_state_t configuration_look_host (setup_t *setup, buffer_t *finding);
setup_result_t configuration_make_host (setup_t *setup, buffer_t *finding,
                                        gl_error_t *error);
/* Nodes and login hosts, where everybody may read it. */
setup_state_t configuration_look_client (setup_t *setup, buffer_t *finding);
setup_result_t configuration_make_client (setup_t *setup, buffer_t *finding,
                                          gl_error_t *error);
/* The comments come back, unless the file was edited. */
setup_result_t configuration_undo (setup_t *setup, buffer_t *finding,
                                   gl_error_t *error);

#endif /* !GL_SETUP_CONFIGURATION_H */
