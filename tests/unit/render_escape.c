#include "support/test.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "render/escape.h"

typedef void (*escape_f) (buffer_t *out, const char *text);

static void check (escape_f escape, const char *text, const char *expected)
{
    BUFFER_AUTO out = BUFFER_INIT;

    escape (&out, text);
    assert_string_equal (buffer_text (&out), expected);
}

static void guarded_csv (buffer_t *out, const char *text)
{
    escape_csv (out, text, 1);
}

static void plain_csv (buffer_t *out, const char *text)
{
    escape_csv (out, text, 0);
}

TEST_CASE (escape_visible__control_characters__become_hex)
{
    check (escape_visible, "caf\xc3\xa9 |\\", "caf\xc3\xa9 |\\");
    check (escape_visible, "a\x1b[31mb", "a\\x1b[31mb");
    check (escape_visible, "a\nb\tc\rd\x7f", "a\\x0ab\\x09c\\x0dd\\x7f");
    check (escape_visible,
           "\xc2\x9b"
           "2J",
           "\\xc2\\x9b2J"); /* C1: CSI */
    check (escape_visible,
           "a\xe2\x80\xae"
           "b",
           "a\\xe2\\x80\\xae"
           "b");                                      /* RLO */
    check (escape_visible, "\xff\xc3", "\\xff\\xc3"); /* no UTF-8 */
    check (escape_visible, "\xc0\xaf", "\\xc0\\xaf"); /* overlong '/' */
    check (escape_visible, "\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogate */
    check (escape_visible, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
    check (escape_visible, "\xf0\x9f\x8e\x88", "\xf0\x9f\x8e\x88");
}

TEST_CASE (escape_parsable__separators__become_hex)
{
    check (escape_parsable, "a|b\\c\nd", "a\\x7cb\\x5cc\\x0ad");
    check (escape_parsable, "plain", "plain");
}

/* RFC 4180 and the guard of the design, 6.2. */
TEST_CASE (escape_csv__formulas_and_quotes__are_harmless)
{
    check (guarded_csv, "plain text", "plain text");
    check (guarded_csv, "a,b", "\"a,b\"");
    check (guarded_csv, "a\"b", "\"a\"\"b\"");
    check (guarded_csv, "a\r\nb", "\"a\r\nb\"");
    check (guarded_csv, "=1+1", "'=1+1");
    check (guarded_csv, "+1", "'+1");
    check (guarded_csv, "-1", "'-1");
    check (guarded_csv, "@x", "'@x");
    check (guarded_csv, "\tx", "'\tx");
    check (guarded_csv, "\rx", "\"'\rx\"");
    check (guarded_csv, "=HYPERLINK(\"a\",\"b\")",
           "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\"");
    check (guarded_csv, "a=1", "a=1");
    check (plain_csv, "-12.50", "-12.50");
    check (guarded_csv, "a\x1b[m", "a\xef\xbf\xbd[m");
    check (guarded_csv, "\xff", "\xef\xbf\xbd");
    check (guarded_csv, "", "");
}

TEST_CASE (escape_json__all_bytes__give_a_valid_string)
{
    check (escape_json, "a\"b\\c", "\"a\\\"b\\\\c\"");
    check (escape_json, "a\nb\x1b", "\"a\\u000ab\\u001b\"");
    check (escape_json, "\xc3\xa9\xff", "\"\xc3\xa9\xef\xbf\xbd\"");
    check (escape_json, "</script>", "\"</script>\"");
    check (escape_json, "\xe2\x80\xa8", "\"\\u2028\"");
}

TEST_CASE (escape_html__markup__is_text)
{
    check (escape_html, "<script>alert('x')</script>",
           "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
    check (escape_html, "a&b \"c\"", "a&amp;b &quot;c&quot;");
    check (escape_html,
           "a\x1b"
           "b\n",
           "a\xef\xbf\xbd"
           "b\xef\xbf\xbd");
    check (escape_html, "\xe2\x80\xae", "\xef\xbf\xbd");
}

TEST_MAIN (NULL, NULL)
