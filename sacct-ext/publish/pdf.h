/*
 * pdf.h: a page of the site as a PDF, made by WeasyPrint.
 *
 * WeasyPrint is a program of its own, found in PATH. It reads the page from its standard input,
 * loads nothing, and knows no time: the same page, program and fonts give the same bytes.
 */
#ifndef GL_PUBLISH_PDF_H
#define GL_PUBLISH_PDF_H

#include "base/buffer.h"
#include "base/error.h"

/* -1: WeasyPrint cannot be run; the error says what to do. */
int pdf_check (gl_error_t *error);

/* Appends the PDF of an HTML page of render_report(). `path` names it in errors. */
int pdf_make (const buffer_t *page, const char *path, buffer_t *out,
              gl_error_t *error);

#endif /* !GL_PUBLISH_PDF_H */
