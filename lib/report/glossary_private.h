/* glossary_private.h: the table that the build makes from docs/glossary.md. */
#ifndef GL_REPORT_GLOSSARY_PRIVATE_H
#define GL_REPORT_GLOSSARY_PRIVATE_H

#include "report/glossary.h"

extern const glossary_term_t glossary_terms[];
extern const size_t glossary_terms_count;

#endif /* !GL_REPORT_GLOSSARY_PRIVATE_H */
