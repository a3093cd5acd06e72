/* render_explain.h: an explanation as text, JSON or a page of a site; see render.h. */
#ifndef GL_RENDER_EXPLAIN_H
#define GL_RENDER_EXPLAIN_H

#include "base/buffer.h"
#include "render/render.h"
#include "report/explain.h"

void render_explain_text (const explain_t *explain, buffer_t *out);
void render_explain_json (const explain_t *explain, buffer_t *out);
/* `title`: of the page; `frame` may be NULL. */
void render_explain_html (const explain_t *explain, const char *title,
                          const render_frame_t *frame, buffer_t *out);

#endif /* !GL_RENDER_EXPLAIN_H */
