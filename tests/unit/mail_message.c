/* Messages of e-mail: headers that hold whatever a name is, bodies that decode to what
 * was put in, and addresses. */
#include "support/test.h"

#include "base/address.h"
#include "base/memory.h"
#include "mail/mail_words.h"
#include "mail/message.h"

/* --- addresses ----------------------------------------------------------- */

static bool takes (const char *text, const char *name, const char *address)
{
    address_t a;
    gl_error_t error;
    bool same;

    if (address_parse (text, &a, &error) < 0)
        return false;
    same = text_same (a.name, name) && text_same (a.address, address);
    address_clear (&a);
    return same;
}

static bool refuses (const char *text)
{
    address_t a;
    gl_error_t error;

    if (address_parse (text, &a, &error) == 0) {
        address_clear (&a);
        return false;
    }
    return strstr (error.text, "is no e-mail address") != NULL;
}

TEST_CASE (address__with_and_without_a_name__both_parts)
{
    assert_true (takes ("ada@example.org", NULL, "ada@example.org"));
    assert_true (takes ("<ada@example.org>", NULL, "ada@example.org"));
    assert_true (takes ("Ada L <a.d+x@cs.example.org>", "Ada L",
                        "a.d+x@cs.example.org"));
    assert_true (
        takes ("\"L, Ada\" <ada@localhost>", "L, Ada", "ada@localhost"));
    assert_true (takes ("J\303\266rg <j@xn--mhle-0ra.example>", "J\303\266rg",
                        "j@xn--mhle-0ra.example"));
}

TEST_CASE (address__options_routes_and_second_lines__refused)
{
    static const char *const wrong[]
        = {"",
           "ada",
           "@example.org",
           "ada@",
           "ada@.org",
           "ada@example..org",
           "ada@-x.org",
           "ada@x-.org",
           "-oQ/tmp@example.org",
           ".ada@example.org",
           "ada.@example.org",
           "a..da@example.org",
           "ada%evil.org@example.org",
           "evil.org!ada@example.org",
           "ada@example.org,bob@example.org",
           "ada@example.org bob@example.org",
           "ada@example.org\nBcc: x@example.org",
           "Ada\nBcc: x@example.org <ada@example.org>",
           "Ada\rX <ada@example.org>",
           "Ada <ada@example.org>, Bob <bob@example.org> x",
           "\"ada l\"@example.org",
           "ada@[127.0.0.1]",
           "ada@m\303\274hle.example",
           "j\303\266rg@example.org"};
    char local[] = "01234567890123456789012345678901234567890123456789"
                   "012345678901234@example.org";

    for (size_t i = 0; i < GL_ARRAY_SIZE (wrong); i++)
        if (!refuses (wrong[i]))
            fail_msg ("'%s' is taken", wrong[i]);
    assert_true (refuses (local));
    assert_true (takes (local + 1, NULL, local + 1));
}

/* --- headers ------------------------------------------------------------- */

static char *write_with (const char *subject, const char *to, const char *text)
{
    char *item[1] = {(char *)to};
    const text_list_t list = {item, to ? 1 : 0};
    const message_t message = {.from = "billing@example.org",
                               .to = &list,
                               .subject = subject,
                               .date = 1793764800,
                               .id = "a.1@example.org",
                               .text = text};
    buffer_t out = BUFFER_INIT;

    message_write (&message, &out);
    return buffer_take (&out);
}

/* What every message has to be. */
static void check_lines (const char *text)
{
    size_t most = 0;

    for (const char *at = text; *at;) {
        size_t length = strcspn (at, "\n");
        most = length > most ? length : most;
        assert_int_equal (memchr (at, '\r', length) != NULL, 0);
        assert_true (strncmp (at, "From ", 5) != 0);
        for (size_t i = 0; i < length; i++)
            assert_true ((unsigned char)at[i] < 0x80);
        at += length + (at[length] == '\n');
    }
    assert_in_range (most, 1, 78);
}

TEST_CASE (headers__in_order__as_rfc_5322_has_them)
{
    GL_AUTOFREE char *text
        = write_with ("Statement", "Ada <ada@example.org>", "Hello\n");

    assert_string_equal (text, "From: billing@example.org\n"
                               "To: Ada <ada@example.org>\n"
                               "Subject: Statement\n"
                               "Date: Wed, 04 Nov 2026 04:00:00 +0000\n"
                               "Message-ID: <a.1@example.org>\n"
                               "Auto-Submitted: auto-generated\n"
                               "MIME-Version: 1.0\n"
                               "Content-Type: text/plain; charset=utf-8\n"
                               "Content-Transfer-Encoding: 7bit\n\n"
                               "Hello\n");
}

TEST_CASE (headers__hostile_texts__stay_in_their_field)
{
    static const char *const hostile[] = {"x\nBcc: all@example.org",
                                          "x\r\n\r\nbody",
                                          "=?UTF-8?Q?x=0ABcc=3A_y?=",
                                          "\303\274\n\nX: y",
                                          "\xff\xfe broken",
                                          " begins with a blank",
                                          ""};

    for (size_t i = 0; i < GL_ARRAY_SIZE (hostile); i++) {
        GL_AUTOFREE char *name
            = xasprintf ("%.40s <ada@example.org>", hostile[i]);
        GL_AUTOFREE char *text = write_with (hostile[i], name, "x\n");
        const char *end = strstr (text, "\n\n");
        check_lines (text);
        assert_null (strstr (text, "\nBcc"));
        assert_null (strstr (text, "\nX:"));
        /* the first empty line is that before the body */
        assert_string_equal (end, "\n\nx\n");
        assert_null (strstr (text, "Subject: =?UTF-8?Q?x=0A"));
    }
}

TEST_CASE (headers__ten_thousand_letters__folded)
{
    GL_AUTOFREE char *name = xmalloc (10001);
    GL_AUTOFREE char *text = NULL;

    memset (name, 'n', 10000);
    name[10000] = '\0';
    text = write_with (name, "a@example.org", name);
    check_lines (text);
}

TEST_CASE (headers__what_is_no_address__left_out)
{
    GL_AUTOFREE char *text = write_with ("s", "ada\nBcc: x@example.org", "x\n");

    assert_null (strstr (text, "To:"));
    assert_null (strstr (text, "Bcc"));
}

/* --- bodies -------------------------------------------------------------- */

static int hex (char c)
{
    return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* Quoted-printable, up to the end of the text. Yours to free. */
static char *unquote (const char *text)
{
    buffer_t out = BUFFER_INIT;

    for (; *text; text++)
        if (*text != '=')
            buffer_add_char (&out, *text);
        else if (text[1] == '\n')
            text++;
        else {
            buffer_add_char (&out, (char)(hex (text[1]) * 16 + hex (text[2])));
            text += 2;
        }
    return buffer_take (&out);
}

TEST_CASE (body__any_text__decodes_to_itself)
{
    static const char *const texts[]
        = {"From here\n.\n.x\nFrom there",
           "blank at the end \ntab\t\nlast ",
           "\303\244\303\266\303\274 = 1\r\nreturn\n",
           "\033[1mcontrol\n",
           "",
           "\n\n\n",
           "0123456789012345678901234567890123456789012345678901234567890123"
           "45678901234567890123456789 = \303\274 0123456789012345678901234567"
           "8901234567890123456789012345678901234567890123456789 \nFrom x",
           "--=_e087d154be7772462694f896fe15c3b9--\n"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        GL_AUTOFREE char *text = write_with ("s", NULL, texts[i]);
        const char *body = strstr (text, "\n\n") + 2;
        GL_AUTOFREE char *back = strstr (text, "quoted-printable")
                                     ? unquote (body)
                                     : xstrdup (body);
        check_lines (text);
        assert_null (strstr (body, "\n."));
        assert_string_equal (back, texts[i]);
    }
}

/* Every length around the places where a line is cut. */
TEST_CASE (body__every_length__no_line_too_long)
{
    char text[200];

    for (size_t n = 60; n < 180; n++) {
        GL_AUTOFREE char *out = NULL;
        GL_AUTOFREE char *back = NULL;
        memset (text, ' ', n);
        text[0] = '=';
        text[n] = '\0';
        out = write_with ("s", NULL, text);
        check_lines (out);
        back = unquote (strstr (out, "\n\n") + 2);
        assert_string_equal (back, text);
    }
}

/* --- parts --------------------------------------------------------------- */

TEST_CASE (parts__alternatives_and_a_file__within_each_other)
{
    const message_file_t file
        = {"text/csv; charset=utf-8", "a/b \"\303\274\".csv", "a,b\n", 4};
    const message_t message = {.subject = "s",
                               .id = "a.1@example.org",
                               .text = "text\n",
                               .html = "<p>page</p>\n",
                               .file = &file,
                               .file_count = 1};
    BUFFER_AUTO out = BUFFER_INIT;
    BUFFER_AUTO again = BUFFER_INIT;
    const char *mixed, *alternative;

    message_write (&message, &out);
    message_write (&message, &again);
    assert_string_equal (buffer_text (&out), buffer_text (&again));
    check_lines (buffer_text (&out));
    mixed = strstr (buffer_text (&out), "multipart/mixed;\n boundary=\"=_");
    assert_non_null (mixed);
    alternative = strstr (mixed, "multipart/alternative;\n boundary=\"=_");
    assert_non_null (alternative);
    assert_non_null (strstr (alternative, "\ntext\n\n--=_"));
    assert_non_null (strstr (alternative, "\n<p>page</p>\n\n--=_"));
    assert_non_null (strstr (alternative, " filename=\"a_b____.csv\"\n\n"
                                          "YSxiCg==\n\n--=_"));
    assert_int_equal (strncmp (mixed + 27, alternative + 33, 20) == 0, 0);
}

TEST_CASE (mbox__a_message__between_its_line_and_an_empty_one)
{
    BUFFER_AUTO out = BUFFER_INIT;

    message_write_mbox (1793764800, "X: y\n\nz\n", 8, &out);
    assert_string_equal (buffer_text (&out),
                         "From gpuledger Wed Nov  4 04:00:00 2026\n"
                         "X: y\n\nz\n\n");
}

TEST_CASE (words__of_a_month_and_a_long_name)
{
    GL_AUTOFREE char *month = mail_month_text ("2026-10");
    GL_AUTOFREE char *none = mail_file_name ("summary", "2026-10", "");
    GL_AUTOFREE char *name = xmalloc (1001);
    GL_AUTOFREE char *file = NULL;

    assert_string_equal (month, "October 2026");
    assert_string_equal (none, "summary-2026-10.csv");
    for (size_t i = 0; i < 1000; i += 2)
        memcpy (name + i, "\303\274", 2);
    name[1000] = '\0';
    file = mail_file_name ("statement", "2026-10", name);
    assert_int_equal (strlen (file), strlen ("statement-2026-10-.csv") + 120);
}

TEST_MAIN (NULL, NULL)
