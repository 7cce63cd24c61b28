import type { enPermissions } from "./en_permissions.ts";

/** The Japanese sentences of `permissions`. */
export const jaPermissions: Readonly<Record<keyof typeof enPermissions, string>> = {
  "permissions.brief": "各コマンドがこのマシンで触れられるものを表示する",
  "permissions.argument": "このコマンドだけ",
  "permissions.unknown_verb": "`{verb}` というコマンドはありません。あるのは {verbs} です",
  "permissions.unknown_verb.hint": "`tias-remote permissions` ですべて表示できます",
  "permissions.read": "読む",
  "permissions.write": "書く",
  "permissions.net": "接続する",
  "permissions.run": "起動する",
  "permissions.env": "環境変数を読む",
  "permissions.sys": "知る",
  "permissions.whole_project": "プロジェクト全体",
  "permissions.project_folder": "プロジェクトの {path}",
  "permissions.hostname": "このマシンの名前",
  "permissions.nothing": "なし",
  "permissions.only_ssh": "なし（通信するのは ssh だけ）",
  "permissions.project":
    "スクリプトのプロジェクトはスクリプトの置かれたものです。実行ファイルでは現在のフォルダのもので，`configs` は {levels} 階層上まで探します",
  "permissions.sandbox":
    "そのほかはすべて Deno のサンドボックスが拒みます。起動したプログラムはサンドボックスの外にあり，あなたと同じことができます",
};
