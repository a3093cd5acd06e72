/*
 * config.h: gpuledger.yaml -> site_t.
 *
 * One table (schema.c) lists every kind and key: from it come the parser, the
 * commented default file and the man page's list. YAML is read with libyaml's
 * document API; every scalar is taken as text and parsed by us, so that 0.10
 * stays exactly 1/10 and no is a text where a text is expected.
 *
 * `conf.d` beside the file is read after it: each *.yaml in it, in bytewise
 * order. Lists of the same kind are joined; a key of `ledger` or `policy` may
 * be set in one file only.
 *
 * Every error names file:line, what stands there and what to write. Opening
 * time zones changes TZ for a moment (zone.h): load before starting threads.
 */
#ifndef GL_CONFIG_CONFIG_H
#define GL_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "site/export_layout.h"
#include "site/site.h"

/* A file of a site with thousands of pools has some 300 KiB; more than this is
 * not a configuration. */
#define CONFIG_FILE_MAX (1024 * 1024)

/* Reads and checks everything. *ret_site is yours: site_free(). */
int config_load (const char *path, site_t **ret_site, gl_error_t *error);

/* The same, with the file `overlay` laid over it: what that says takes the place of
 * what is said here (config/overlay.h). */
int config_load_overlay (const char *path, const char *overlay,
                         site_t **ret_site, gl_error_t *error);

/* The same from a text; `name` stands for the file in messages. */
int config_load_text (const char *name, const char *text, size_t length,
                      site_t **ret_site, gl_error_t *error);

/* A layout of `gpuledger export` (site/export_layout.h), of the same form. Whether its
 * fields exist is not looked at. Yours: export_layout_free(). */
int config_load_layout (const char *path, export_layout_t **ret_layout,
                        gl_error_t *error);
int config_load_layout_text (const char *name, const char *text, size_t length,
                             export_layout_t **ret_layout, gl_error_t *error);

/* Every kind and key with its help, all commented out: for
 * /etc/gpuledger/gpuledger.yaml. With `live` the examples are not commented
 * out: a small complete site. */
void config_print_default (buffer_t *out, bool live);

/* The same table as mdoc(7) source for gpuledger.yaml(5): one .Ss a kind, one
 * .It a key; and the keys of layouts. */
void config_print_man (buffer_t *out);

#endif /* !GL_CONFIG_CONFIG_H */
