/*
 * import_source.h: bytes and lines of a file, a pipe, or a gzipped either.
 *
 * Damage shows at the end: a gzip stream that ends early or fails its
 * checksum is an error, never a short file.
 */
#ifndef GL_IMPORT_SOURCE_H
#define GL_IMPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The longest line. A job's submit line may hold 128 KiB of arguments (Linux,
 * MAX_ARG_STRLEN) and its name or comment much the same. */
#define SOURCE_LINE_MAX (1024 * 1024)

typedef struct source source_t;

/* "-": standard input. NULL with an error. */
source_t *source_open (const char *path, gl_error_t *error);
/* Accepts NULL. */
void source_close (source_t *source);
/* To the first byte again. */
int source_rewind (source_t *source, gl_error_t *error);
/* Give buffers and, where the file can be opened again by its name, the file
 * back until the next source_rewind(): hundreds of sources may wait. */
void source_rest (source_t *source);

/* "FILE", and the number of the line last read (of the byte last read), for
 * messages. */
const char *source_name (const source_t *source);
uint64_t source_line_number (const source_t *source);
/* Of the file as it is stored, for progress; size 0: not known. */
uint64_t source_position (const source_t *source);
uint64_t source_size (const source_t *source);

/* The next line without its end ("\n" or "\r\n"), yours to change until the
 * next call. 1; 0 at the end; -1 with an error (read error, damage, a line
 * over SOURCE_LINE_MAX, a NUL byte). */
int source_line (source_t *source, char **ret_line, size_t *ret_length,
                 gl_error_t *error);

/* The next byte, or the one after it left unread. SOURCE_END, or SOURCE_ERROR
 * with an error. */
#define SOURCE_END (-1)
#define SOURCE_ERROR (-2)
int source_byte (source_t *source, gl_error_t *error);
int source_peek (source_t *source, gl_error_t *error);

#endif /* !GL_IMPORT_SOURCE_H */
