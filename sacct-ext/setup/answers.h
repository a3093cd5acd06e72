/*
 * answers.h: what setup has to know: options, else proposals from Slurm's files, the
 * configuration and this host, else questions.
 */
#ifndef GL_SETUP_ANSWERS_H
#define GL_SETUP_ANSWERS_H

#include "setup/setup.h"

/* Fills the answers that no option gave with what is proposed; others stay NULL. */
void answers_propose (setup_t *setup);

/* The same, and asks for those that this kind of host needs: on a terminal, unless --yes was
 * given, each with its proposal. CLI_OK, or the exit code of wrong use, with a list of
 * the options that are missing or wrong. */
int answers_ask (setup_t *setup, const setup_step_t *const *kind);

#endif /* !GL_SETUP_ANSWERS_H */
