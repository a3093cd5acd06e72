/*
 * render_export.h: rows of export/export.h as the bytes that their layout asks for
 * (docs/formats/layout.md). Pure.
 */
#ifndef GL_RENDER_RENDER_EXPORT_H
#define GL_RENDER_RENDER_EXPORT_H

#include "base/buffer.h"
#include "export/export.h"

/* The header line and the first record. -1: a value does not fit; the error has the file
 * and line of its column. */
int render_export_begin (const export_t *export, buffer_t *out,
                         gl_error_t *error);
int render_export_row (const export_t *export, const export_row_t *row,
                       buffer_t *out, gl_error_t *error);
/* The trailer. */
int render_export_end (export_t *export, buffer_t *out, gl_error_t *error);

#endif /* !GL_RENDER_RENDER_EXPORT_H */
