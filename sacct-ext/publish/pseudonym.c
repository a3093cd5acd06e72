#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <uthash.h>

#include "base/memory.h"
#include "publish/pseudonym.h"

#define PREFIX "user-"
#define DIGITS 10 /* of 5 bits */
#define TEXT_SIZE sizeof (PREFIX "0123456789")

struct entry {
    char *name;
    char text[TEXT_SIZE];
    UT_hash_handle by_name;
    UT_hash_handle by_text;
};

struct pseudonyms {
    unsigned char key[PSEUDONYM_KEY_MAX];
    size_t length;
    struct entry *by_name;
    struct entry *by_text;
};

/* --- the key -------------------------------------------------------------- */

pseudonyms_t *pseudonyms_new (const void *key, size_t length, gl_error_t *error)
{
    pseudonyms_t *p;

    if (length < PSEUDONYM_KEY_MIN || length > PSEUDONYM_KEY_MAX) {
        gl_error (error,
                  "a key of pseudonyms has %d to %d bytes, and this one %s%zu: "
                  "make one with 'openssl rand -out FILE 32'",
                  PSEUDONYM_KEY_MIN, PSEUDONYM_KEY_MAX,
                  length > PSEUDONYM_KEY_MAX ? "at least " : "", length);
        return NULL;
    }
    p = xcalloc (1, sizeof (*p));
    memcpy (p->key, key, length);
    p->length = length;
    return p;
}

/* Of the file that is open, so that nobody can put another one in its place. */
static int check_file (int fd, const char *path, gl_error_t *error)
{
    struct stat st;

    if (fstat (fd, &st) < 0)
        return gl_error (error, "%s: %s", path, strerror (errno));
    if (!S_ISREG (st.st_mode))
        return gl_error (error, "%s: a key of pseudonyms is a regular file",
                         path);
    if (st.st_mode & S_IRWXO)
        return gl_error (error,
                         "%s: everybody may use this key (its mode is %04o) "
                         "and find out the users behind the pseudonyms: run "
                         "'chmod o= %s', or make another key",
                         path, (unsigned)(st.st_mode & 07777), path);
    return 0;
}

static ssize_t read_all (int fd, unsigned char *bytes, size_t size)
{
    size_t length = 0;
    ssize_t n;

    do {
        n = read (fd, bytes + length, size - length);
        length += n > 0 ? n : 0;
    } while ((n > 0 && length < size) || (n < 0 && errno == EINTR));
    return n < 0 ? -1 : (ssize_t)length;
}

static pseudonyms_t *read_key (int fd, const char *path, gl_error_t *error)
{
    unsigned char bytes[PSEUDONYM_KEY_MAX + 1];
    pseudonyms_t *p = NULL;
    ssize_t length;

    if (check_file (fd, path, error) < 0)
        return NULL;
    length = read_all (fd, bytes, sizeof (bytes));
    if (length < 0)
        gl_error (error, "%s: %s", path, strerror (errno));
    else if (!(p = pseudonyms_new (bytes, length, error)))
        gl_error_prefix (error, "%s", path);
    OPENSSL_cleanse (bytes, sizeof (bytes));
    return p;
}

pseudonyms_t *pseudonyms_read (const char *path, gl_error_t *error)
{
    /* not to wait for the other end of a FIFO */
    int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    pseudonyms_t *p;

    if (fd < 0) {
        gl_error (error, "%s: cannot read the key of pseudonyms: %s", path,
                  strerror (errno));
        return NULL;
    }
    p = read_key (fd, path, error);
    close (fd);
    return p;
}

void pseudonyms_free (pseudonyms_t *p)
{
    struct entry *entry, *next;

    if (!p)
        return;
    HASH_CLEAR (by_text, p->by_text);
    HASH_ITER (by_name, p->by_name, entry, next)
    {
        HASH_DELETE (by_name, p->by_name, entry);
        free (entry->name);
        free (entry);
    }
    OPENSSL_cleanse (p->key, sizeof (p->key));
    free (p);
}

/* --- names ---------------------------------------------------------------- */

static int make_text (const pseudonyms_t *p, const char *name,
                      char ret_text[TEXT_SIZE], gl_error_t *error)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char mac[EVP_MAX_MD_SIZE];
    uint64_t bits = 0;

    if (!HMAC (EVP_sha256 (), p->key, (int)p->length,
               (const unsigned char *)name, strlen (name), mac, NULL))
        return gl_error (error, "libcrypto cannot make an HMAC-SHA-256");
    for (size_t i = 0; i < sizeof (bits); i++)
        bits = bits << 8 | mac[i];
    memcpy (ret_text, PREFIX, sizeof (PREFIX));
    for (size_t i = 0; i < DIGITS; i++, bits <<= 5)
        ret_text[strlen (PREFIX) + i] = digits[bits >> 59];
    ret_text[TEXT_SIZE - 1] = '\0';
    return 0;
}

const char *pseudonyms_of (pseudonyms_t *p, const char *name, gl_error_t *error)
{
    struct entry *entry, *other;
    char text[TEXT_SIZE];

    HASH_FIND (by_name, p->by_name, name, strlen (name), entry);
    if (entry)
        return entry->text;
    if (make_text (p, name, text, error) < 0)
        return NULL;
    HASH_FIND (by_text, p->by_text, text, strlen (text), other);
    if (other) {
        gl_error (error,
                  "users '%s' and '%s' have the same pseudonym %s under this "
                  "key: make another key",
                  other->name, name, text);
        return NULL;
    }
    entry = xcalloc (1, sizeof (*entry));
    entry->name = xstrdup (name);
    memcpy (entry->text, text, sizeof (text));
    HASH_ADD_KEYPTR (by_name, p->by_name, entry->name, strlen (name), entry);
    HASH_ADD_KEYPTR (by_text, p->by_text, entry->text, strlen (text), entry);
    return entry->text;
}
