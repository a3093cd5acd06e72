#include "mail/message.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <string.h>

#include "base/address.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "base/utf8.h"

/* A line should have at most 78 letters (RFC 5322, 2.1.1), one with encoded words
 * 76 (RFC 2047, 2), one of a body in quoted-printable or base64 76. */
#define LINE_MAX_PLAIN 78
#define LINE_MAX_CODED 76

/* --- headers: texts ----------------------------------------------------- */

#define WORD_OPEN "=?UTF-8?Q?"
#define WORD_CLOSE "?="
/* Less the ends of a word and "Reply-To: ". */
#define WORD_MAX 54

static bool is_control (unsigned char c)
{
    return c < ' ' || c == 0x7f;
}

/* Letters that mean nothing in a header. */
static bool is_plain_letter (char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
           || (c >= 'A' && c <= 'Z');
}

/* It may stand in a header as it is, folded at its blanks: no word is too long for a
 * line, and no line would begin or end with another blank. */
static bool is_plain (const char *text)
{
    size_t length;

    if (strstr (text, "=?"))
        return false;
    for (;; text += length + 1) {
        length = strcspn (text, " ");
        if (length == 0 || length > WORD_MAX)
            return false;
        for (size_t i = 0; i < length; i++)
            if (is_control ((unsigned char)text[i])
                || (unsigned char)text[i] >= 0x80)
                return false;
        if (!text[length])
            return true;
    }
}

/* `used` letters of the line are taken. */
static void add_folded (buffer_t *out, const char *text, size_t used)
{
    size_t length;

    for (;; text += length + 1) {
        length = strcspn (text, " ");
        buffer_add (out, text, length);
        used += length;
        if (!text[length])
            return;
        if (used + 1 + strcspn (text + length + 1, " ") > LINE_MAX_CODED) {
            buffer_add_char (out, '\n');
            used = 0;
        }
        buffer_add_char (out, ' ');
        used++;
    }
}

/* As names before an address allow it, too (RFC 2047, 5): "=C3=BC". */
static void add_letter (buffer_t *word, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (is_control (c))
            c = '?';
        if (is_plain_letter ((char)c))
            buffer_add_char (word, (char)c);
        else if (c == ' ')
            buffer_add_char (word, '_');
        else
            buffer_printf (word, "=%02X", c);
    }
}

/* Readers take blanks between encoded words away, so that the letters of the next
 * line go on where these end. A letter is never cut in two (RFC 2047, 5). */
static void add_encoded (buffer_t *out, const char *text)
{
    BUFFER_AUTO letter = BUFFER_INIT;
    size_t used = 0;

    buffer_add_text (out, WORD_OPEN);
    while (*text) {
        int32_t code;
        size_t length = utf8_decode (text, &code);
        buffer_clear (&letter);
        add_letter (&letter, code < 0 ? UTF8_REPLACEMENT : text,
                    code < 0 ? strlen (UTF8_REPLACEMENT) : length);
        text += length;
        if (used + letter.length > WORD_MAX) {
            buffer_add_text (out, WORD_CLOSE "\n " WORD_OPEN);
            used = 0;
        }
        buffer_add (out, letter.data, letter.length);
        used += letter.length;
    }
    buffer_add_text (out, WORD_CLOSE);
}

static void add_text_header (buffer_t *out, const char *name, const char *text)
{
    buffer_printf (out, "%s: ", name);
    if (is_plain (text))
        add_folded (out, text, strlen (name) + 2);
    else
        add_encoded (out, text);
    buffer_add_char (out, '\n');
}

/* --- headers: addresses ------------------------------------------------- */

/* A name that needs no quotes. */
static bool is_phrase (const char *name)
{
    for (const char *c = name; *c; c++)
        if (!is_plain_letter (*c) && *c != ' ')
            return false;
    return strlen (name) <= WORD_MAX && is_plain (name);
}

/* One address; false: the text is none, and nothing is written. */
static bool add_address (buffer_t *out, const char *text)
{
    address_t address;
    gl_error_t error;

    if (address_parse (text, &address, &error) < 0)
        return false;
    if (!address.name)
        buffer_add_text (out, address.address);
    else {
        if (is_phrase (address.name))
            buffer_add_text (out, address.name);
        else
            add_encoded (out, address.name);
        buffer_printf (out, "%s<%s>", is_phrase (address.name) ? " " : "\n ",
                       address.address);
    }
    address_clear (&address);
    return true;
}

/* An address on each line. */
static void add_addresses (buffer_t *out, const char *name,
                           const text_list_t *list)
{
    BUFFER_AUTO value = BUFFER_INIT;
    BUFFER_AUTO one = BUFFER_INIT;

    for (size_t i = 0; i < list->count; i++) {
        buffer_clear (&one);
        if (!add_address (&one, list->item[i]))
            continue;
        buffer_add_text (&value, value.length ? ",\n " : "");
        buffer_add (&value, one.data, one.length);
    }
    if (value.length)
        buffer_printf (out, "%s: %s\n", name, buffer_text (&value));
}

static void add_one_address (buffer_t *out, const char *name, const char *text)
{
    char *item[1] = {(char *)text};
    const text_list_t list = {item, 1};

    if (text)
        add_addresses (out, name, &list);
}

/* --- headers: dates ----------------------------------------------------- */

static const char days[][4] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static const char *day_of_week (const civil_t *c)
{
    return days[calendar_day_number (c->year, c->month, c->day) % 7];
}

static void add_date (buffer_t *out, int64_t instant)
{
    civil_t c = civil_of_seconds (instant);

    buffer_printf (out, "Date: %s, %02d %s %04d %02d:%02d:%02d +0000\n",
                   day_of_week (&c), c.day, months[c.month - 1], c.year, c.hour,
                   c.minute, c.second);
}

/* --- bodies ------------------------------------------------------------- */

/* Text that needs no code: short lines of ASCII without blanks at their ends. */
static bool is_seven_bit (const char *text)
{
    size_t length;

    for (; *text; text += length + (text[length] == '\n')) {
        length = strcspn (text, "\n");
        if (length > LINE_MAX_PLAIN || !strncmp (text, "From ", 5)
            || *text == '.' || (length > 0 && text[length - 1] == ' '))
            return false;
        for (size_t i = 0; i < length; i++)
            if (is_control ((unsigned char)text[i])
                || (unsigned char)text[i] >= 0x80)
                return false;
    }
    return true;
}

/* As it is, but for: blanks at the end of a line, which mail servers may take
 * away; a '.' and "From " at its begin, which mean something to them. */
static bool is_quoted (const char *at, const char *end, size_t used)
{
    unsigned char c = (unsigned char)*at;

    if (c == ' ' || c == '\t')
        return at + 1 == end || at[1] == '\n';
    return is_control (c) || c >= 0x80 || c == '='
           || (used == 0
               && (c == '.' || (end - at >= 5 && !memcmp (at, "From ", 5))));
}

/* RFC 2045, 6.7. */
static void add_quoted (buffer_t *out, const char *text)
{
    const char *end = text + strlen (text);
    size_t used = 0;

    for (const char *at = text; at < end; at++) {
        bool quoted;
        size_t needs;
        if (*at == '\n') {
            buffer_add_char (out, '\n');
            used = 0;
            continue;
        }
        needs = is_quoted (at, end, used) ? 3 : 1;
        if (used + needs > LINE_MAX_CODED - 1) {
            buffer_add_text (out, "=\n");
            used = 0;
        }
        quoted = is_quoted (at, end, used);
        if (quoted)
            buffer_printf (out, "=%02X", (unsigned char)*at);
        else
            buffer_add_char (out, *at);
        used += quoted ? 3 : 1;
    }
}

static void add_base64 (buffer_t *out, const unsigned char *data, size_t length)
{
    enum { BYTES = LINE_MAX_CODED / 4 * 3 };

    for (size_t at = 0; at < length; at += BYTES) {
        unsigned char line[LINE_MAX_CODED + 1];
        size_t n = length - at < BYTES ? length - at : BYTES;
        int letters = EVP_EncodeBlock (line, data + at, (int)n);
        buffer_add (out, line, (size_t)letters);
        buffer_add_char (out, '\n');
    }
}

static void add_text_part (buffer_t *out, const char *type, const char *text)
{
    buffer_printf (out,
                   "Content-Type: text/%s; charset=utf-8\n"
                   "Content-Transfer-Encoding: quoted-printable\n\n",
                   type);
    add_quoted (out, text);
}

static void add_file_part (buffer_t *out, const message_file_t *file)
{
    buffer_printf (out,
                   "Content-Type: %s\n"
                   "Content-Transfer-Encoding: base64\n"
                   "Content-Disposition: attachment;\n filename=\"",
                   file->type);
    for (const char *c = file->file; *c; c++)
        if (is_plain_letter (*c) || strchr ("-_.", *c))
            buffer_add_char (out, *c);
        else if (((unsigned char)*c & 0xc0) != 0x80) /* once for a letter */
            buffer_add_char (out, '_');
    buffer_add_text (out, "\"\n\n");
    add_base64 (out, file->data, file->length);
}

/* --- parts -------------------------------------------------------------- */

enum { MIXED, ALTERNATIVE, BOUNDARIES };
#define BOUNDARY_BYTES 16

struct boundary {
    char text[2 + 2 * BOUNDARY_BYTES + 1];
};

static struct boundary boundary_of (const message_t *m, int level)
{
    struct boundary boundary = {"=_"};
    GL_AUTOFREE char *seed = xasprintf ("%d %s", level, m->id ? m->id : "");
    unsigned char digest[EVP_MAX_MD_SIZE] = {0};

    EVP_Digest (seed, strlen (seed), digest, NULL, EVP_sha256 (), NULL);
    for (size_t i = 0; i < BOUNDARY_BYTES; i++)
        snprintf (boundary.text + 2 + 2 * i, 3, "%02x", digest[i]);
    return boundary;
}

static void begin_parts (buffer_t *out, const char *subtype,
                         const struct boundary *boundary)
{
    buffer_printf (out, "Content-Type: multipart/%s;\n boundary=\"%s\"\n\n",
                   subtype, boundary->text);
}

static void begin_part (buffer_t *out, const struct boundary *boundary)
{
    buffer_printf (out, "\n--%s\n", boundary->text);
}

static void end_parts (buffer_t *out, const struct boundary *boundary)
{
    buffer_printf (out, "\n--%s--\n", boundary->text);
}

/* What readers show: the page, or the text where they show none. */
static void add_readable (buffer_t *out, const message_t *m)
{
    struct boundary boundary = boundary_of (m, ALTERNATIVE);

    if (!m->html) {
        add_text_part (out, "plain", m->text);
        return;
    }
    begin_parts (out, "alternative", &boundary);
    begin_part (out, &boundary);
    add_text_part (out, "plain", m->text);
    begin_part (out, &boundary);
    add_text_part (out, "html", m->html);
    end_parts (out, &boundary);
}

static void add_body (buffer_t *out, const message_t *m)
{
    struct boundary boundary = boundary_of (m, MIXED);

    if (m->file_count == 0) {
        add_readable (out, m);
        return;
    }
    begin_parts (out, "mixed", &boundary);
    begin_part (out, &boundary);
    add_readable (out, m);
    for (size_t i = 0; i < m->file_count; i++) {
        begin_part (out, &boundary);
        add_file_part (out, &m->file[i]);
    }
    end_parts (out, &boundary);
}

void message_write (const message_t *m, buffer_t *out)
{
    add_one_address (out, "From", m->from);
    add_one_address (out, "Reply-To", m->reply_to);
    if (m->to)
        add_addresses (out, "To", m->to);
    add_text_header (out, "Subject", m->subject);
    add_date (out, m->date);
    if (m->id)
        buffer_printf (out, "Message-ID: <%s>\n", m->id);
    /* no answers of absence (RFC 3834) */
    buffer_add_text (out, "Auto-Submitted: auto-generated\n"
                          "MIME-Version: 1.0\n");
    if (!m->html && m->file_count == 0 && is_seven_bit (m->text)) {
        buffer_add_text (out, "Content-Type: text/plain; charset=utf-8\n"
                              "Content-Transfer-Encoding: 7bit\n\n");
        buffer_add_text (out, m->text);
    } else
        add_body (out, m);
}

void message_write_mbox (int64_t date, const char *bytes, size_t length,
                         buffer_t *out)
{
    civil_t c = civil_of_seconds (date);

    buffer_printf (out, "From gpuledger %s %s %2d %02d:%02d:%02d %04d\n",
                   day_of_week (&c), months[c.month - 1], c.day, c.hour,
                   c.minute, c.second, c.year);
    buffer_add (out, bytes, length);
    buffer_add_char (out, '\n');
}
