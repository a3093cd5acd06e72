/* shell.h: command lines that people may copy, with words from anywhere. */
#ifndef GL_REPORT_SHELL_H
#define GL_REPORT_SHELL_H

#include "base/buffer.h"

/* " WORD", quoted for a POSIX shell where it needs to be. */
void shell_word (buffer_t *out, const char *word);

#endif /* !GL_REPORT_SHELL_H */
