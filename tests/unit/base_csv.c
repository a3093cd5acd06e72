/* Comma-separated values, record by record. */
#include "support/test.h"

#include <stdio.h>

#include "base/csv.h"
#include "base/memory.h"

/* What a text holds: "1:a|b 3:c|d", the line of each record and its cells; what is wrong
 * in it behind "!" and the line. */
static void check (const char *text, size_t length, const char *wanted)
{
    FILE *stream = fmemopen ((void *)text, length, "r");
    csv_t csv = CSV_INIT (stream);
    BUFFER_AUTO got = BUFFER_INIT;
    gl_error_t error;
    int more;

    while ((more = csv_next (&csv, &error)) == 1) {
        buffer_printf (&got, "%s%zu:", got.length ? " " : "", csv.line);
        for (size_t i = 0; i < csv.count; i++)
            buffer_printf (&got, "%s%s", i ? "|" : "", csv.cell[i]);
    }
    if (more < 0)
        buffer_printf (&got, "%s!%zu:%s", got.length ? " " : "", csv.line,
                       error.text);
    assert_string_equal (buffer_text (&got), wanted);
    csv_done (&csv);
    fclose (stream);
}

#define CHECK(text, wanted) check (text, sizeof (text) - 1, wanted)

TEST_CASE (csv__lines__cells_of_each)
{
    CHECK ("a,b\nc,d\n", "1:a|b 2:c|d");
    CHECK ("a,b\r\nc,d", "1:a|b 2:c|d");
    CHECK ("a,\n,b\n,\n", "1:a| 2:|b 3:|");
    CHECK ("\xef\xbb\xbf" "a,b\n\n\nc\n", "1:a|b 4:c");
}

TEST_CASE (csv__quotes__commas_quotes_and_line_ends)
{
    CHECK ("\"a,b\",c\n", "1:a,b|c");
    CHECK ("\"a \"\"b\"\"\",\"\"\n", "1:a \"b\"|");
    CHECK ("\"a\nb\",c\nd\n", "1:a\nb|c 3:d");
    CHECK ("\"a\"", "1:a");
}

TEST_CASE (csv__damaged__said_with_its_line)
{
    CHECK ("a\n\"b\nc\n", "1:a !2:the quote that begins here does not end");
    CHECK ("a\n\"b\"c\n", "1:a !2:text follows a closing quote");
    CHECK ("a\nb\0c\n", "1:a !2:a byte is 0: this is not text");
}

/* Of any bytes, so that no file makes the reader grow without end. */
TEST_CASE (csv__record_without_end__refused)
{
    static const struct {
        const char *piece;
        const char *wanted;
    } cases[] = {
        {"x", "!1:the record is longer than 1048576 bytes"},
        {",", "!1:the record is longer than 1048576 bytes"},
        {"\"\",", "!1:the record is longer than 1048576 bytes"},
        {"\"\"", "!1:the quote that begins here does not end"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        BUFFER_AUTO text = BUFFER_INIT;
        if (i == 3)
            buffer_add_char (&text, '"');
        while (text.length < 4 * CSV_MAX)
            buffer_add_text (&text, cases[i].piece);
        check (buffer_text (&text), text.length, cases[i].wanted);
    }
}

TEST_MAIN (NULL, NULL)
