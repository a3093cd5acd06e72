/* render_explain.h: an explanation as text or JSON; see render.h. */
#ifndef GL_RENDER_EXPLAIN_H
#define GL_RENDER_EXPLAIN_H

#include "base/buffer.h"
#include "report/explain.h"

void render_explain_text (const explain_t *explain, buffer_t *out);
void render_explain_json (const explain_t *explain, buffer_t *out);

#endif /* !GL_RENDER_EXPLAIN_H */
