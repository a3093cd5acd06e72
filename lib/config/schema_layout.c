/* The keys of a layout: a file of its own, not of gpuledger.yaml. */
#include "config/schema_kinds.h"
#include "site/export_layout.h"

static const schema_word_t rows_words[] = {{"postings", EXPORT_POSTINGS},
                                           {"jobs", EXPORT_JOBS},
                                           {"journal", EXPORT_JOURNAL},
                                           {NULL, 0}};
static const schema_word_t choice_words[]
    = {{"yes", EXPORT_YES}, {"no", EXPORT_NO}, {NULL, 0}};
static const schema_word_t digits_words[]
    = {{"0", 1}, {"1", 2}, {"2", 3}, {"3", 4},  {"4", 5},   {"5", 6},
       {"6", 7}, {"7", 8}, {"8", 9}, {"9", 10}, {"10", 11}, {NULL, 0}};
static const schema_word_t sign_words[] = {{"leading", EXPORT_SIGN_LEADING},
                                           {"trailing", EXPORT_SIGN_TRAILING},
                                           {"none", EXPORT_SIGN_NONE},
                                           {NULL, 0}};
static const schema_word_t quote_words[] = {{"needed", EXPORT_QUOTE_NEEDED},
                                            {"texts", EXPORT_QUOTE_TEXTS},
                                            {"all", EXPORT_QUOTE_ALL},
                                            {"never", EXPORT_QUOTE_NEVER},
                                            {NULL, 0}};
static const schema_word_t line_end_words[]
    = {{"lf", 0}, {"crlf", 1}, {NULL, 0}};
static const schema_word_t encoding_words[] = {{"utf-8", EXPORT_UTF8},
                                               {"utf-8-bom", EXPORT_UTF8_BOM},
                                               {"latin-1", EXPORT_LATIN1},
                                               {NULL, 0}};
static const schema_word_t align_words[]
    = {{"left", EXPORT_ALIGN_LEFT}, {"right", EXPORT_ALIGN_RIGHT}, {NULL, 0}};

/* Of a layout for all of its columns, of a column for itself. */
#define FORMAT_KEYS(type)                                                      \
    {"date",                                                                   \
     VALUE_TEXT,                                                               \
     0,                                                                        \
     offsetof (type, format.date),                                             \
     NULL,                                                                     \
     NULL,                                                                     \
     NULL,                                                                     \
     NULL,                                                                     \
     "How dates are written, of YYYY, YY, MM, DD, MON (JAN) and other "        \
     "characters. Default as they are: 2026-10-31."},                          \
        {"decimals",                                                           \
         VALUE_WORD,                                                           \
         0,                                                                    \
         offsetof (type, format.decimals),                                     \
         digits_words,                                                         \
         NULL,                                                                 \
         NULL,                                                                 \
         NULL,                                                                 \
         "Decimals. Of a layout: of amounts, at least those of the currency, " \
         "which is the default. Of a column: of what it has."},                \
        {"decimal_point",                                                      \
         VALUE_TEXT,                                                           \
         0,                                                                    \
         offsetof (type, format.point),                                        \
         NULL,                                                                 \
         NULL,                                                                 \
         NULL,                                                                 \
         NULL,                                                                 \
         "One character. Default '.'."},                                       \
        {"thousands",                                                          \
         VALUE_TEXT,                                                           \
         0,                                                                    \
         offsetof (type, format.thousands),                                    \
         NULL,                                                                 \
         NULL,                                                                 \
         NULL,                                                                 \
         NULL,                                                                 \
         "One character between thousands. Default none."},                    \
        {"sign",                                                               \
         VALUE_WORD,                                                           \
         0,                                                                    \
         offsetof (type, format.sign),                                         \
         sign_words,                                                           \
         NULL,                                                                 \
         NULL,                                                                 \
         NULL,                                                                 \
         "Where the minus is: leading, trailing, or none. Default leading."},  \
        {"reversed",                                                           \
         VALUE_WORD,                                                           \
         0,                                                                    \
         offsetof (type, format.reversed),                                     \
         choice_words,                                                         \
         NULL,                                                                 \
         NULL,                                                                 \
         NULL,                                                                 \
         "Amounts with the other sign: charges negative. Default no."},        \
        {"cents",                                                              \
         VALUE_WORD,                                                           \
         0,                                                                    \
         offsetof (type, format.cents),                                        \
         choice_words,                                                         \
         NULL,                                                                 \
         NULL,                                                                 \
         NULL,                                                                 \
         "Amounts as whole numbers of the currency's smallest unit. Default "  \
         "no."},                                                               \
    {                                                                          \
        "absent", VALUE_TEXT, 0, offsetof (type, format.absent), NULL, NULL,   \
            NULL, NULL,                                                        \
            "What is written for a value that a row does not have. "           \
            "Default nothing."                                                 \
    }

#define AT(member) offsetof (export_column_t, member)
static const schema_key_t column_keys[] = {
    {"heading", VALUE_TEXT, 0, AT (heading), NULL, NULL, NULL, NULL,
     "Its name in the header line. Default the name of its field."},
    {"value", VALUE_TEXT, 0, AT (value), NULL, NULL, NULL, NULL,
     "A text with fields in it: '{month_end}', 'GPU {pool} {month}'; '{{' is a "
     "brace. Neither value nor fields: an empty column."},
    {"fields", VALUE_LIST, 0, AT (fields), NULL, NULL, NULL, NULL,
     "Fields that are put together, instead of value; those that a row does "
     "not have are left out."},
    {"separator", VALUE_TEXT, 0, AT (separator), NULL, NULL, NULL, NULL,
     "What is between them. Default nothing."},
    {"map", VALUE_MAP, 0, AT (map), NULL, NULL, NULL, NULL,
     "What is written instead of a value: {h100: 7410, a100: 7411}."},
    {"otherwise", VALUE_TEXT, 0, AT (otherwise), NULL, NULL, NULL, NULL,
     "What is written for values that the map does not have. Default: it is "
     "an error."},
    {"width", VALUE_COUNT, 0, AT (width), NULL, NULL, NULL, NULL,
     "Characters; shorter values are padded. Required where the delimiter is "
     "none."},
    {"align", VALUE_WORD, 0, AT (align), align_words, NULL, NULL, NULL,
     "Where a padded value is: left or right. Default numbers right, others "
     "left."},
    {"pad", VALUE_TEXT, 0, AT (pad), NULL, NULL, NULL, NULL,
     "The character that it is padded with. Default a blank."},
    {"cut", VALUE_WORD, 0, AT (cut), schema_truth_words, NULL, NULL, NULL,
     "Cut texts that are longer than the width; numbers never are. Default "
     "no: it is an error."},
    FORMAT_KEYS (export_column_t),
};
#undef AT

#define RECORD(name, help, member, counter)                                 \
    NESTED_KIND (name, help, column_keys, export_layout_t, member, counter, \
                 export_column_t)
const schema_kind_t schema_layout_columns
    = RECORD ("columns", "A column.", columns, column_count);
const schema_kind_t schema_layout_first
    = RECORD ("first", "A column of the first record.", first, first_count);
const schema_kind_t schema_layout_trailer = RECORD (
    "trailer", "A column of the last record.", trailer, trailer_count);

#define AT(member) offsetof (export_filter_t, member)
static const schema_key_t filter_keys[] = {
    {"field", VALUE_TEXT, REQUIRED, AT (field), NULL, NULL, NULL, NULL,
     "A field that is a text or a date."},
    {"is", VALUE_LIST, 0, AT (is), NULL, NULL, NULL, NULL,
     "Only rows where it is one of these; (none) is no value."},
    {"not", VALUE_LIST, 0, AT (not ), NULL, NULL, NULL, NULL,
     "No rows where it is one of these."},
};
const schema_kind_t schema_layout_only
    = NESTED_KIND ("only", "A filter.", filter_keys, export_layout_t, filters,
                   filter_count, export_filter_t);
#undef AT

#define AT(member) offsetof (export_layout_t, member)
static const schema_key_t keys[] = {
    {"rows", VALUE_WORD, REQUIRED, AT (rows), rows_words, NULL, NULL, NULL,
     "What the file is made of: postings (charges, credits, taxes and all else "
     "that teams pay), jobs (the same by job and day), or journal (both sides "
     "of the double entry)."},
    {"only", VALUE_ENTRIES, 0, 0, NULL, "only", NULL, NULL,
     "Filters; a row has to pass all of them."},
    {"group", VALUE_LIST, 0, AT (group), NULL, NULL, NULL, NULL,
     "One row for all that agree in these fields; amounts and quantities are "
     "added up. Default: each row by itself."},
    {"sort", VALUE_LIST, 0, AT (sort), NULL, NULL, NULL, NULL,
     "Order of the rows by these fields; '-' before one that is to descend. "
     "Default by group, else as on the bill."},
    {"zeros", VALUE_WORD, 0, AT (zeros), schema_truth_words, NULL, "yes", NULL,
     "Rows whose amount is 0. Default yes."},
    FORMAT_KEYS (export_layout_t),
    {"delimiter", VALUE_TEXT, 0, AT (delimiter), NULL, NULL, NULL, NULL,
     "One character between columns, or tab; none: columns of fixed width. "
     "Default ','."},
    {"quote", VALUE_WORD, 0, AT (quote), quote_words, NULL, "needed", NULL,
     "Values in double quotes: where needed, texts, all, or never (delimiters "
     "in texts then become blanks). Default needed."},
    {"header", VALUE_WORD, 0, AT (header), schema_truth_words, NULL, "yes",
     NULL, "A line with the headings. Default yes."},
    {"line_end", VALUE_WORD, 0, AT (crlf), line_end_words, NULL, "lf", NULL,
     "lf or crlf. Default lf."},
    {"encoding", VALUE_WORD, 0, AT (encoding), encoding_words, NULL, "utf-8",
     NULL,
     "utf-8, utf-8-bom (with a byte order mark), or latin-1, in which other "
     "characters become '?'. Default utf-8."},
    {"guard", VALUE_WORD, 0, AT (guard), schema_truth_words, NULL, "yes", NULL,
     "Put a ' before texts of users that a spreadsheet would take for a "
     "formula; not in columns of fixed width. Default yes."},
    {"columns", VALUE_ENTRIES, REQUIRED, 0, NULL, "columns", NULL, NULL,
     "The columns, in their order."},
    {"first", VALUE_ENTRIES, 0, 0, NULL, "first", NULL, NULL,
     "Columns of a record before all others, of fields of the month, with the "
     "same keys."},
    {"trailer", VALUE_ENTRIES, 0, 0, NULL, "trailer", NULL, NULL,
     "Columns of a last record: fields of the month, sums of amounts and "
     "quantities, and how many rows were written."},
};

const schema_kind_t schema_layout = {"layout",
                                     "A file of its own, for gpuledger export "
                                     "--layout: which rows it writes, and "
                                     "how (docs/formats/layout.md).",
                                     KEYS (keys),
                                     sizeof (export_layout_t),
                                     0,
                                     0,
                                     false,
                                     0,
                                     true,
                                     AT (place)};
