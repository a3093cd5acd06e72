#include "mail/alert.h"

#include "mail/message.h"
#include "render/render.h"

/* Names may hold anything: one line stays one line. */
void alert_text (buffer_t *body, const char *text)
{
    for (; *text; text++)
        buffer_add_char (
            body, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

void alert_line (buffer_t *body, const char *label, const char *value)
{
    if (!value)
        return;
    buffer_printf (body, "%-14s ", label);
    alert_text (body, value);
    buffer_add_char (body, '\n');
}

void alert_write (const site_t *site, const text_list_t *to,
                  const char *subject, int64_t date, const char *body,
                  buffer_t *out)
{
    BUFFER_AUTO title = BUFFER_INIT;
    BUFFER_AUTO text = BUFFER_INIT;
    BUFFER_AUTO bytes = BUFFER_INIT;
    message_t message = {.from = site->mail.from,
                         .reply_to = site->mail.reply_to,
                         .to = to,
                         .date = date};

    render_readable_text (&title, subject, false, " ");
    render_readable_text (&text, body, false, " ");
    message.subject = buffer_text (&title);
    message.text = buffer_text (&text);
    message_write (&message, &bytes);
    message_write_mbox (date, bytes.data, bytes.length, out);
}
