/*
 * rollups_keep.h: the end of every verb that writes facts or closes a month.
 */
#ifndef GL_ROLLUPS_KEEP_H
#define GL_ROLLUPS_KEEP_H

#include "cli/cli.h"

/* Counts in advance what reports will ask for (rollups.h, corrections.h), after the
 * facts or the month are committed; shown on a terminal if it takes more than a second. It is not
 * needed for any report to be right, so where it fails that is a warning. */
void rollups_keep (cli_t *cli);

#endif /* !GL_ROLLUPS_KEEP_H */
