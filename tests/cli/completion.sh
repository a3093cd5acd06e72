#!/bin/sh
# What bash, zsh and fish offer where TAB is pressed, each in its own shell.
# shellcheck source=tests/support/tap.sh
. "$abs_top_srcdir/tests/support/tap.sh"

scripts=$abs_top_srcdir/contrib/completion
PATH=$(dirname "$program"):$PATH
cd "$work" || exit 1
cat >complete.bash <<'END'
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_gpuledger
printf '%s\n' "${COMPREPLY[@]}"
END
# The functions of zsh's completion print what they would offer.
cat >complete.zsh <<'END'
compadd () { [[ $1 == -a ]] && print -l -- ${(P)2} || print -l -- $@ }
_describe () { print -l -- ${${(P)2}%%:*} }
_files () { print -l -- * }
script=$1
shift
words=("$@") CURRENT=$#
typed=${words[CURRENT]}
source $script | while read -r word; do [[ $word == $typed* ]] && print -r -- $word; done
END
cat >complete.fish <<'END'
source $argv[1]
complete -C "$argv[2..-1]" | string replace -r '\t.*' ''
END
in_bash () { bash complete.bash "$scripts/bash/gpuledger" gpuledger "$@"; }
in_zsh () { zsh -f complete.zsh "$scripts/zsh/_gpuledger" gpuledger "$@"; }
in_fish () { HOME=$work fish --no-config complete.fish "$scripts/fish/gpuledger.fish" gpuledger "$@"; }
offers () { "in_$shell" "$@" 2>err | sort | tr '\n' ' '; }

for shell in bash zsh fish; do
    command -v $shell >/dev/null || { echo "skipped, because $shell is not installed"; continue; }
    is "$(offers rep)" "report " "$shell: verbs"
    is "$(offers report u)" "usage utilization " "$shell: reports"
    is "$(offers report usage --acc)" "--accounts " "$shell: options of a verb"
    is "$(offers --store x report usage --st)" "--starttime --state --store --strict " "$shell: common options"
    is "$(offers --store x dispute u)" "uphold " "$shell: actions of a verb"
    is "$(offers prices s)" "show " "$shell: actions of prices"
    is "$(offers setup no)" "node " "$shell: kinds of hosts"
    is "$(offers report usage --month l)" "last " "$shell: the last month"
done
shell=bash
is "$(offers fits --recompute a)" "all attention " "words of an option of fits"
is "$(offers fits --precision fp)" "fp16 fp32 fp8 " "and another"
is "$(offers report usage --by account,pr)" "account,profile account,project " "keys after a comma"
is "$(offers report usage --sort -gpu_hours,acc)" "-gpu_hours,account " "fields to sort by"

echo "1..$tests"
exit $failed
