import type { Shell } from '../flags.js';

/** @param call how the command line is called from any folder, ready for a shell */
export function completionScript(shell: Shell, call: string): string {
  switch (shell) {
    case 'bash':
      return bash(call);
    case 'zsh':
      return zsh(call);
    case 'fish':
      return fish(call);
  }
}

const bash = (call: string): string => `# Completion of longhaul for bash: source <(longhaul completion bash)
_longhaul() {
  local line kind='' typed="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [ -n "$kind" ]; then COMPREPLY+=("$line"); else kind="\${line%%$'\\t'*}"; fi
  done < <(COMP_TYPE="\${COMP_TYPE:-9}" COLUMNS="\${COLUMNS:-80}" \\
    ${call} __complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case "$typed" in [:=]*) typed='' ;; esac
  case "$kind" in
    values) compopt -o nosort 2>/dev/null ;;
    folders | files)
      compopt -o filenames 2>/dev/null
      local flag=-f
      if [ "$kind" = folders ]; then flag=-d; fi
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$flag" -- "$typed")
      ;;
  esac
}
complete -F _longhaul longhaul
`;

const zsh = (call: string): string => `#compdef longhaul
# Completion of longhaul for zsh: source <(longhaul completion zsh)
_longhaul() {
  local -a lines found
  local kind before line
  lines=("\${(@f)$(${call} __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  kind="\${lines[1]%%$'\\t'*}"
  before="\${lines[1]#*$'\\t'}"
  case "$kind" in
    values)
      for line in "\${(@)lines[2,-1]}"; do
        before="\${\${line%%$'\\t'*}//:/\\\\:}"
        line="\${line#*$'\\t'}"
        found+=("$before\${line:+:$line}")
      done
      _describe -V 'longhaul' found
      ;;
    folders | files)
      [[ -n "$before" ]] && compset -P 1 '*='
      if [[ "$kind" == folders ]]; then _files -/; else _files; fi
      ;;
  esac
}
if [[ "$funcstack[1]" == _longhaul ]]; then _longhaul "$@"; else compdef _longhaul longhaul; fi
`;

const fish = (call: string): string => `# Completion of longhaul for fish: longhaul completion fish | source
function __longhaul_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -e words[1]
    set -l lines (${call} __complete fish -- $words "$typed" 2>/dev/null)
    set -l head (string split \\t -- $lines[1])
    set -l rest (string sub -s (math (string length -- "$head[2]") + 1) -- "$typed")
    switch "$head[1]"
        case values
            printf '%s\\n' $lines[2..-1]
        case folders
            for found in (__fish_complete_directories "$rest" '')
                echo "$head[2]$found"
            end
        case files
            for found in (__fish_complete_path "$rest" '')
                echo "$head[2]$found"
            end
    end
end
complete -c longhaul -f -k -a '(__longhaul_complete)'
`;
