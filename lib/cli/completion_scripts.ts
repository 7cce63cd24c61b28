/**
 * What a shell must be told once. Each script asks `tias-remote completion words -- WORD…` at every Tab, whose lines
 * are `WORD <tab> DESCRIPTION`; where nothing is proposed, file names are.
 */
export const completionScripts = {
  // bash parts `--flag=value` at the `=` and replaces only what stands behind it. macOS has bash 3.2.
  bash: `# In ~/.bashrc: eval "$(tias-remote completion bash)"
_tias_remote() {
  local word prefix= glue= words=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [ "\${#words[@]}" -gt 0 ] && { [ "$word" = = ] || [ -n "$glue" ]; }; then
      if [ "$word" = = ]; then prefix=\${words[\${#words[@]}-1]}=; fi
      words[\${#words[@]}-1]+=$word
    else
      prefix=
      words+=("$word")
    fi
    if [ "$word" = = ]; then glue=1; else glue=; fi
  done
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    COMPREPLY+=("\${word#"$prefix"}")
  done < <("$1" completion words -- "\${words[@]}" 2>/dev/null </dev/null)
}
complete -o default -F _tias_remote tias-remote
`,
  zsh: `#compdef tias-remote
# In ~/.zshrc: eval "$(tias-remote completion zsh)"
_tias_remote() {
  local line
  local -a proposed shown
  for line in "\${(@f)$("\${(Q)words[1]}" completion words -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null </dev/null)}"; do
    [[ -n $line ]] || continue
    proposed+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  }")
  done
  if (( $#proposed )); then
    compadd -l -d shown -a proposed
  else
    _files
  fi
}
if [[ $funcstack[1] == _tias_remote ]]; then
  _tias_remote "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _tias_remote tias-remote
fi
`,
  fish: `# In ~/.config/fish/config.fish: tias-remote completion fish | source
function __tias_remote_words
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l proposed ($words[1] completion words -- $words[2..-1] "$current" 2>/dev/null </dev/null)
    if test (count $proposed) -gt 0
        printf '%s\\n' $proposed
    else
        __fish_complete_path "$current"
    end
end
complete -c tias-remote -f -a '(__tias_remote_words)'
`,
  // Windows PowerShell drops an empty argument, hence \`next\` in the place of \`words\`.
  powershell: `# In $PROFILE: tias-remote completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName tias-remote, tias-remote.exe -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  $mode = if ($wordToComplete -eq '') { 'next' } else { 'words' }
  $program = $commandAst.CommandElements[0].ToString()
  & $program completion $mode '--' @words 2>$null | ForEach-Object {
    $word, $brief = $_ -split "\`t", 2
    if (-not $brief) { $brief = $word }
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $brief)
  }
}
`,
} as const;

export type Shell = keyof typeof completionScripts;

export const shellNames = Object.keys(completionScripts) as readonly Shell[];
