"""The scripts by which shells ask `carrel __complete` what may stand at the cursor."""

from __future__ import annotations

# The first line of every script, by which one that Carrel wrote is known.
MARK = "# Completion of carrel commands; written by: carrel completion"

_BASH = """\
# Completion of carrel commands; written by: carrel completion bash
_carrel_complete() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            :files)
                if ! compopt -o default 2>/dev/null; then
                    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$2")
                fi
                return
                ;;
            :folders)
                if ! compopt -o dirnames 2>/dev/null; then
                    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$2")
                fi
                return
                ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done < <(COMP_LINE="${COMP_LINE:0:COMP_POINT}" "$1" __complete bash 2>/dev/null </dev/null)
}
complete -F _carrel_complete carrel
"""

_ZSH = """\
#compdef carrel
# Completion of carrel commands; written by: carrel completion zsh
_carrel() {
    local -a lines values
    local line said
    said=$("${(Q)words[1]}" __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)
    lines=("${(@f)said}")
    for line in $lines; do
        case $line in
            :files) _files; return ;;
            :folders) _files -/; return ;;
            ?*) values+=("$line") ;;
        esac
    done
    (( $#values )) && _describe -V 'carrel' values
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _carrel "$@"
elif (( $+functions[compdef] )); then
    compdef _carrel carrel
fi
"""

_FISH = """\
# Completion of carrel commands; written by: carrel completion fish
function __carrel_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    for line in ($program __complete fish $words "$current" 2>/dev/null </dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current" ''
            case '*'
                echo $line
        end
    end
end
complete -c carrel -f -k -a '(__carrel_complete)'
"""

_POWERSHELL = """\
# Completion of carrel commands; written by: carrel completion powershell
Register-ArgumentCompleter -Native -CommandName carrel -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $line = $commandAst.ToString()
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    $before = $env:COMP_LINE
    $env:COMP_LINE = $line.PadRight($length).Substring(0, $length)
    try { $lines = @(& $commandAst.CommandElements[0].Value __complete powershell 2>$null) }
    catch { $lines = @() }
    finally { $env:COMP_LINE = $before }
    foreach ($each in $lines) {
        if ($each -eq ':files' -or $each -eq ':folders') {
            [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
            continue
        }
        $value, $meaning = $each -split "`t", 2
        if (-not $meaning) { $meaning = $value }
        $kind = 'ParameterValue'
        [System.Management.Automation.CompletionResult]::new($value, $value, $kind, $meaning)
    }
}
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH, "powershell": _POWERSHELL}
