#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "record/directory.h"
#include "record/prices.h"

#define STATE_DIR "state"
#define PRICES "prices"
#define DEVICES "devices"
#define PRICES_HEAD "gpuledger-prices 1"
#define DEVICES_HEAD PRICES_DEVICES_HEAD
#define NODE_MAX 128

/* --- lines and words --------------------------------------------------- */

/* A piece of the text; not NUL-terminated. */
struct span {
    const char *text;
    size_t length;
};

static bool same_span (struct span a, struct span b)
{
    return a.length == b.length && memcmp (a.text, b.text, a.length) == 0;
}

static bool span_is (struct span span, const char *text)
{
    return same_span (span, (struct span){text, strlen (text)});
}

/* Up to `end` or `mark`, which is skipped; false at the end. */
static bool cut (const char **cursor, const char *end, char mark,
                 struct span *ret)
{
    const char *stop;

    if (*cursor >= end)
        return false;
    stop = memchr (*cursor, mark, (size_t)(end - *cursor));
    *ret = (struct span){*cursor, (size_t)((stop ? stop : end) - *cursor)};
    *cursor = stop ? stop + 1 : end;
    return true;
}

/* Printable ASCII without blanks: what types and codes are made of. */
static bool is_word (struct span span, size_t max)
{
    for (size_t i = 0; i < span.length; i++) {
        if (span.text[i] <= ' ' || span.text[i] > '~')
            return false;
    }
    return span.length > 0 && span.length <= max;
}

static bool is_printable (const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\n') || c == 0x7f)
            return false;
    }
    return true;
}

/* Calls `take` with each line between the head and `end`. */
typedef int (*line_f) (struct span line, void *arg);

static int each_line (const char *text, size_t length, const char *head,
                      line_f take, void *arg, gl_error_t *error)
{
    const char *cursor = text, *end = text + length;
    struct span line;
    int number = 1;

    if (length == 0 || text[length - 1] != '\n' || !is_printable (text, length))
        return gl_error (error, "torn, or no text");
    if (!cut (&cursor, end, '\n', &line) || !span_is (line, head))
        return gl_error (error, "line 1 is not '%s'", head);
    while (cut (&cursor, end, '\n', &line)) {
        number++;
        if (span_is (line, "end"))
            return cursor == end
                       ? 0
                       : gl_error (error, "text follows its end");
        if (take (line, arg) < 0)
            return gl_error (error, "line %d is none of this format", number);
    }
    return gl_error (error, "torn: it has no end");
}

/* --- the price file ---------------------------------------------------- */

struct price {
    int64_t amount;
    struct span type;
    struct span qos; /* length 0: every QOS */
};

struct prices {
    struct span node;
    struct span currency;
    int64_t until;
    /* what is looked for while the lines go by */
    void (*see) (const struct price *price, void *arg);
    void *arg;
};

static int take_price (const char *cursor, const char *end,
                       const struct prices *prices)
{
    struct price price = {0};
    struct span amount;

    if (!cut (&cursor, end, ' ', &amount)
        || number_i64 (amount.text, amount.length, &price.amount) < 0
        || price.amount < 0 || price.amount > PRICES_AMOUNT_MAX
        || !cut (&cursor, end, ' ', &price.type)
        || !is_word (price.type, PRICES_TYPE_MAX))
        return -1;
    price.qos = (struct span){cursor, (size_t)(end - cursor)};
    if (prices->see)
        prices->see (&price, prices->arg);
    return 0;
}

static int take_prices_line (struct span line, void *arg)
{
    struct prices *prices = arg;
    const char *cursor = line.text, *end = line.text + line.length;
    struct span key, rest;

    if (!cut (&cursor, end, ' ', &key))
        return -1;
    rest = (struct span){cursor, (size_t)(end - cursor)};
    if (span_is (key, "price"))
        return take_price (cursor, end, prices);
    if (span_is (key, "until"))
        return number_i64 (rest.text, rest.length, &prices->until);
    if (span_is (key, "currency"))
        prices->currency = rest;
    else if (span_is (key, "node"))
        prices->node = rest;
    else
        return -1;
    return is_word (rest, NODE_MAX) ? 0 : -1;
}

static int read_prices (const char *text, size_t length, struct prices *prices,
                        gl_error_t *error)
{
    if (each_line (text, length, PRICES_HEAD, take_prices_line, prices, error)
        < 0)
        return -1;
    if (prices->currency.length != 3 || prices->node.length == 0
        || prices->until <= 0)
        return gl_error (error, "node, currency or until is missing");
    return 0;
}

/* --- files ------------------------------------------------------------- */

/* A regular file that only the effective user can have written. */
static int check_file (int fd, const char *name, gl_error_t *error)
{
    struct stat st;

    if (fstat (fd, &st) < 0)
        return gl_error (error, "%s: %s", name, strerror (errno));
    if (!S_ISREG (st.st_mode) || st.st_uid != geteuid () || st.st_mode & 022)
        return gl_error (error, "%s is not a file that user %u alone can write",
                         name, (unsigned)geteuid ());
    if (st.st_size > PRICES_FILE_MAX)
        return gl_error (error, "%s is larger than %d bytes", name,
                         PRICES_FILE_MAX);
    return 0;
}

/* 1 and the bytes; 0: there is no such file. */
static int read_file (int at, const char *name, char text[PRICES_FILE_MAX],
                      size_t *ret_length, gl_error_t *error)
{
    int fd = openat (at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = -1;
    int rc = -1;

    if (fd < 0)
        return errno == ENOENT
                   ? 0
                   : gl_error (error, "%s: %s", name, strerror (errno));
    if (check_file (fd, name, error) == 0) {
        if ((n = read (fd, text, PRICES_FILE_MAX)) < 0)
            gl_error (error, "%s: %s", name, strerror (errno));
        else
            rc = 1;
    }
    close (fd);
    *ret_length = n > 0 ? (size_t)n : 0;
    return rc;
}

int prices_check (const char *text, size_t length, const char *node,
                  gl_error_t *error)
{
    struct prices prices = {0};

    if (length > PRICES_FILE_MAX)
        return gl_error (error, "prices: larger than %d bytes",
                         PRICES_FILE_MAX);
    if (read_prices (text, length, &prices, error) < 0)
        return gl_error_prefix (error, "prices");
    if (node && !span_is (prices.node, node))
        return gl_error (error, "prices: they are for node %.*s, not for %s",
                         (int)prices.node.length, prices.node.text, node);
    return 0;
}

bool prices_type_valid (const char *type)
{
    return is_word ((struct span){type, strnlen (type, PRICES_TYPE_MAX + 1)},
                    PRICES_TYPE_MAX);
}

/* --- which devices a step shows ---------------------------------------- */

struct device {
    int64_t index;
    struct span type; /* length 0: not known */
};

struct devices {
    struct device device[PRICES_DEVICES_MAX];
    size_t count;
};

static int add_range (struct devices *devices, int64_t first, int64_t last)
{
    if (first < 0 || last < first || last - first >= PRICES_DEVICES_MAX)
        return -1;
    for (; first <= last; first++) {
        for (size_t i = 0; i < devices->count; i++) {
            if (devices->device[i].index == first)
                return -1;
        }
        if (devices->count == PRICES_DEVICES_MAX)
            return -1;
        devices->device[devices->count++] = (struct device){.index = first};
    }
    return 0;
}

/* "0,1,4" or "0-3". */
static int parse_indices (const char *gpus, struct devices *devices)
{
    const char *cursor = gpus, *end = gpus + strlen (gpus);
    struct span item;

    devices->count = 0;
    while (cut (&cursor, end, ',', &item)) {
        const char *dash = memchr (item.text, '-', item.length);
        size_t length = dash ? (size_t)(dash - item.text) : item.length;
        int64_t first, last;
        if (number_i64 (item.text, length, &first) < 0)
            return -1;
        last = first;
        if (dash && number_i64 (dash + 1, item.length - length - 1, &last) < 0)
            return -1;
        if (add_range (devices, first, last) < 0)
            return -1;
    }
    return devices->count > 0 ? 0 : -1;
}

static int take_device_line (struct span line, void *arg)
{
    const char *cursor = line.text, *end = line.text + line.length;
    struct devices *devices = arg;
    struct span index, type;
    int64_t number;

    if (!cut (&cursor, end, ' ', &index)
        || number_i64 (index.text, index.length, &number) < 0)
        return -1;
    type = (struct span){cursor, (size_t)(end - cursor)};
    if (!is_word (type, PRICES_TYPE_MAX))
        return -1;
    for (size_t i = 0; i < devices->count; i++) {
        if (devices->device[i].index == number)
            devices->device[i].type = type;
    }
    return 0;
}

/* 1: the table was read; 0: there is none. */
static int read_types (int at, char text[PRICES_FILE_MAX],
                       struct devices *devices, gl_error_t *error)
{
    size_t length;
    int state = openat (at, STATE_DIR,
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int rc = 0;

    if (state >= 0)
        rc = read_file (state, DEVICES, text, &length, error);
    if (rc > 0
        && each_line (text, length, DEVICES_HEAD, take_device_line, devices,
                      error)
               < 0)
        rc = gl_error_prefix (error, DEVICES);
    if (state >= 0)
        close (state);
    return rc;
}

/* --- what they cost ---------------------------------------------------- */

/* One type, looked for while the lines go by. */
struct search {
    struct span type; /* length 0: the one type that there is */
    const char *qos;
    int64_t general, own; /* -1: no such line */
    bool by_qos;          /* the type has lines with a QOS */
    bool several;         /* without a type: there are several */
};

static void see_price (const struct price *price, void *arg)
{
    struct search *search = arg;

    if (search->type.length > 0 && !same_span (search->type, price->type))
        return;
    if (price->qos.length == 0)
        search->general = price->amount;
    else
        search->by_qos = true;
    if (price->qos.length > 0 && search->qos
        && span_is (price->qos, search->qos))
        search->own = price->amount;
}

/* For a search without a type: the type of the first line, if it is that of
 * all lines. */
static void see_type (const struct price *price, void *arg)
{
    struct search *search = arg;

    if (search->type.length == 0)
        search->type = price->type;
    else if (!same_span (search->type, price->type))
        search->several = true;
}

static void walk (const char *text, size_t length,
                  void (*see) (const struct price *price, void *arg),
                  struct search *search)
{
    struct prices prices = {.see = see, .arg = search};

    read_prices (text, length, &prices, NULL);
}

/* -1: not known. */
static int64_t price_of (const char *text, size_t length, struct span type,
                         const char *qos)
{
    struct search search = {.type = type, .qos = qos, .general = -1, .own = -1};

    walk (text, length, see_price, &search);
    if (search.own >= 0)
        return search.own;
    return search.by_qos && !qos ? -1 : search.general;
}

/* 1 with the sum; 0: one of them has no price. */
static int add_up (const char *text, size_t length,
                   const struct devices *devices, struct span only,
                   const char *qos, int64_t *ret_sum)
{
    struct span type = {0};
    int64_t sum = 0, price = -1;

    for (size_t i = 0; i < devices->count; i++) {
        struct span of = only.length ? only : devices->device[i].type;
        if (of.length == 0)
            return 0;
        /* devices of one type are neighbours: one pass for each type */
        if (!same_span (type, of)) {
            type = of;
            price = price_of (text, length, of, qos);
        }
        if (price < 0)
            return 0;
        sum += price;
    }
    *ret_sum = sum;
    return 1;
}

static int answer (int at, const char *text, size_t length,
                   struct devices *devices, const char *qos, int64_t now,
                   prices_answer_t *ret_answer, gl_error_t *error)
{
    char types[PRICES_FILE_MAX];
    struct prices prices = {0};
    struct search only = {0};
    int rc;

    if (read_prices (text, length, &prices, error) < 0)
        return gl_error_prefix (error, PRICES);
    if (now >= prices.until)
        return 0;
    rc = read_types (at, types, devices, error);
    if (rc < 0)
        return -1;
    if (rc == 0) {
        walk (text, length, see_type, &only);
        if (only.several || only.type.length == 0)
            return 0;
    }
    rc = add_up (text, length, devices, only.type, qos, &ret_answer->per_hour);
    if (rc == 1) {
        memcpy (ret_answer->currency, prices.currency.text, 3);
        ret_answer->currency[3] = '\0';
    }
    return rc;
}

int prices_of_devices (const char *spool, const char *gpus, const char *qos,
                       int64_t now, prices_answer_t *ret_answer,
                       gl_error_t *error)
{
    char text[PRICES_FILE_MAX];
    prices_answer_t found = {0};
    struct devices devices;
    size_t length;
    int at, rc;

    if (parse_indices (gpus, &devices) < 0)
        return 0;
    /* whoever writes to the spool reports that it is none */
    if ((at = directory_open (AT_FDCWD, spool, spool, NULL)) < 0)
        return 0;
    rc = read_file (at, PRICES, text, &length, error);
    if (rc > 0)
        rc = answer (at, text, length, &devices, qos && *qos ? qos : NULL, now,
                     &found, error);
    close (at);
    if (rc == 1)
        *ret_answer = found;
    return rc;
}

void prices_text (int64_t amount, char ret_text[PRICES_TEXT_SIZE])
{
    int length = snprintf (ret_text, PRICES_TEXT_SIZE, "%lld.%0*lld",
                           (long long)(amount / PRICES_UNIT), PRICES_DIGITS,
                           (long long)(amount % PRICES_UNIT));

    for (int most = PRICES_DIGITS - 2; most > 0 && ret_text[length - 1] == '0';
         most--)
        ret_text[--length] = '\0';
}
