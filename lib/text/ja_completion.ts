import type { enCompletion } from "./en_completion.ts";

/** The Japanese sentences of `completion`. */
export const jaCompletion: Readonly<Record<keyof typeof enCompletion, string>> = {
  "completion.brief": "Tab キーで補完するための，シェルに読み込ませる設定を出力します",
  "completion.argument": "bash，zsh，fish，powershell のいずれか",
  "completion.unknown_shell": "`{shell}` の補完はありません。あるのは {shells} です",
  "completion.unknown_shell.hint":
    'bash なら ~/.bashrc に次の行を書いてください：eval "$(tias-remote completion bash)"',
};
