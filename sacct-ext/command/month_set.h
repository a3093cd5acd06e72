/*
 * month_set.h: the files of a month in one folder, DIR/2026-10:
 *
 *   statements/[INSTITUTION/]TEAM.html, .csv, .json; statements/INSTITUTION.html, ...
 *   chargeback.html, .csv, .json
 *   journal.ledger
 *   focus.csv
 *   exports/NAME      one for each entry of `exports`
 *   SHA256SUMS        for sha256sum -c
 *
 * They are written into a folder next to it, which takes the place of the former set
 * when it is complete: there is the old set or the new one. The same month gives the
 * same bytes.
 */
#ifndef GL_MONTH_SET_H
#define GL_MONTH_SET_H

#include "cli/output.h"

/* What can be known before the month is closed: the layouts are right, and the folder
 * can be written. Returns an exit code; the reason has been reported. */
int month_set_check (cli_t *cli, const char *month, const char *dir);
/* `month` NULL: the last one that is complete. The same. */
int month_set_write (cli_t *cli, const char *month, const char *dir);

/* --- its statements (verb_statement.c) --- */

/* The statements of all teams with something due or a balance in the month (NULL: the
 * last complete one), into the folder, which is made: as a page, CSV and JSON, or in the
 * one format that `output` was given. Names are the teams', other bytes than letters,
 * digits and _ - . as %2F; what differs only by case, or is too long, ends with ~2.
 * Returns an exit code; the reason has been reported. */
int statement_files_write (cli_t *cli, const char *month, bool jobs,
                           const output_t *output, const char *dir,
                           size_t *ret_teams);
/* A name as that of a file, as above. */
void statement_file_name (buffer_t *out, const char *name);
/* -1: reported. It may be there already. */
int make_folder (cli_t *cli, const char *path);

#endif /* !GL_MONTH_SET_H */
