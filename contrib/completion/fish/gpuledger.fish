# fish completion for gpuledger. Verbs, reports and options are read from --help, which is
# made of the program's own tables, so that nothing here goes stale.

function __gpuledger_run
    set -l words (commandline -opc)
    $words[1] $argv 2>/dev/null
end

# The verb that has been typed; nothing: none yet.
function __gpuledger_verb
    set -l words (commandline -opc)
    set -l skip 0
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word --config --store
            set skip 1
        else if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
end

function __gpuledger_last
    set -l words (commandline -opc)
    echo $words[-1]
end

# "  word   what it does" -> "word<TAB>what it does"
function __gpuledger_described
    sed -n $argv[1]'s/^  \([a-z][a-z0-9-]*\)  *\(.*\)/\1\t\2/p'
end

function __gpuledger_verbs
    __gpuledger_run --help | __gpuledger_described '/^Verbs:/,/^$/'
end

function __gpuledger_reports
    __gpuledger_run report --help | __gpuledger_described '/^NAME is one of/,/^$/'
end

function __gpuledger_options
    __gpuledger_run (__gpuledger_verb) --help |
        sed -n 's/^  \(-[A-Za-z], \)\{0,1\}\( \{4\}\)\{0,1\}\(--[a-z0-9-]*\).*/\3/p'
end

function __gpuledger_months
    __gpuledger_run close --list -P -n -o month
    echo last
end

complete -c gpuledger -f
complete -c gpuledger -n 'test -z "$(__gpuledger_verb)"' -a '(__gpuledger_verbs)'
complete -c gpuledger -n 'test "$(__gpuledger_last)" = report' -a '(__gpuledger_reports)'
complete -c gpuledger -n 'test "$(__gpuledger_last)" = setup' -a 'accounting node login'
complete -c gpuledger -n 'test "$(__gpuledger_last)" = dispute' -a 'raise uphold reject list'
complete -c gpuledger -n 'contains -- (__gpuledger_last) --month --for' -a '(__gpuledger_months)'
complete -c gpuledger -n 'string match -q -- "-*" (commandline -ct)' -a '(__gpuledger_options)'
complete -c gpuledger -F -n 'contains -- (__gpuledger_last) --config --output --option-file --check --layout --slurm-conf --slurmdbd-conf --plugstack --set --export'
