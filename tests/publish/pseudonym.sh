#!/bin/sh
# Pseudonyms are those that openssl's own command makes of a name.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"
cd "$work" || exit 1
openssl rand -out random 32 && chmod 600 random
printf 'a key of words, and a newline\n' >words && chmod 600 words

hex () { od -An -v -tx1 "$1" | tr -d ' \n'; }
# theirs KEYFILE NAME
theirs ()
{
    printf '%s' "$2" |
        openssl dgst -sha256 -mac HMAC -macopt hexkey:"$(hex "$1")" -binary |
        base32 | cut -c1-10 | tr '[:upper:]' '[:lower:]' | sed 's/^/user-/'
}

ours () { "$abs_top_builddir/tests/publish/print" pseudonym "$@"; }
for key in random words; do
    for name in ann bob "o'brien" 'Müller, Ute' "$(printf 'a\nb\\')"; do
        theirs $key "$name"
    done >wanted
    ours $key ann bob "o'brien" 'Müller, Ute' "$(printf 'a\nb\\')" >found 2>err &&
        cmp -s wanted found
    result $? "five names under the key of $key"
done
chmod 604 random
! ours random ann >found 2>err && grep -q 'mode is 0604' err
result $? "a key that everybody can read is refused"
echo "1..$tests"
