/** The English sentences of `completion`. `ja_completion.ts` has the same keys. */
export const enCompletion = {
  "completion.brief": "Print what a shell needs to complete command lines with the Tab key",
  "completion.argument": "bash, zsh, fish or powershell",
  "completion.unknown_shell": "There is no completion for `{shell}`; there is for {shells}",
  "completion.unknown_shell.hint": 'For bash, write into ~/.bashrc: eval "$(tias-remote completion bash)"',
} as const;
