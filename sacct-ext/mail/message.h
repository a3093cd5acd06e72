/*
 * message.h: a message of e-mail as bytes (RFC 5322, 2045 to 2047). Pure.
 *
 * Texts may hold anything. A header is one field whatever is in it: controls
 * become '?', and what is not plain ASCII, long, or looks like an encoded word
 * becomes encoded words (RFC 2047), folded. Addresses have been checked by
 * address_parse(); others are left out. No line has more than 998 bytes, and all
 * bytes are ASCII. Lines end with LF, as programs such as sendmail and files in
 * mbox form want it. No line of a body begins with "From ", so that readers of
 * mbox files need not unquote anything.
 *
 * The same message gives the same bytes: boundaries are made from its id. A
 * boundary contains "=_", which neither base64 nor quoted-printable can produce.
 */
#ifndef GL_MAIL_MESSAGE_H
#define GL_MAIL_MESSAGE_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/text.h"

/* A part that is saved as a file. */
typedef struct {
    const char *type; /* "text/csv; charset=utf-8" */
    const char
        *file; /* its name; letters that not every system allows become '_' */
    const void *data;
    size_t length;
} message_file_t;

/* Everything is borrowed for the call. NULL and 0: none of it. */
typedef struct {
    const char *from;
    const char *reply_to;
    const text_list_t *to;
    const char *subject;
    int64_t date;     /* an instant; written in UTC */
    const char *id;   /* "statement.2026-10-0f1e.1@example.org", ASCII without
                         blanks and angle brackets */
    const char *text; /* required, UTF-8 */
    const char *html; /* the same as a page */
    const message_file_t *file;
    size_t file_count;
} message_t;

/* Appended. */
void message_write (const message_t *message, buffer_t *out);

/* Appended: the message of these bytes as an mbox file has it, with the line
 * "From gpuledger DATE" in UTC before it and an empty line behind it. */
void message_write_mbox (int64_t date, const char *bytes, size_t length,
                         buffer_t *out);

#endif /* !GL_MAIL_MESSAGE_H */
