import type { enRent } from "./en_rent.ts";

/** `train`・`stop`・`sweep` の日本語の文。 */
export const jaRent: Readonly<Record<keyof typeof enRent, string>> = {
  "rent.config.number": "{min} 以上 {max} 以下の数が必要です",
  "rent.config.one_of": "{values} のいずれかが必要です",
  "rent.config.pattern": "グループを 1 つ含む正規表現（例: `Step (\\d+):`）が必要です",
  "rent.config.line": "1 行の文字列が必要です",
  "rent.config.command": "シェルのコマンドが必要です",
  "rent.config.pod_path": "Pod 上の絶対パスが必要です",
  "rent.config.local_path": "この PC 上のパス（二重引用符を含まないもの）が必要です",
  "rent.config.member": "`/` と空白を含まないファイル名かフォルダ名が必要です",
  "rent.config.url": "`https://api.runpod.io/v2` のような，末尾に / のないアドレスが必要です",
  "rent.config.name_prefix":
    "英小文字・数字・`-`（32 文字以内）を使えます。`p2m` は以前のスクリプトのものなので使えません",
  "rent.config.repository": "`name/model` の形のリポジトリ名が必要です",
  "rent.config.start": "イメージ自身の起動スクリプトを 1 語以上書いてください",
  "rent.config.public_key": "ssh の公開鍵の 1 行（例: `ssh-ed25519 AAAA…`）が必要です",
  "rent.config.gpus": "GPU を 1 つ以上書いてください",
  "rent.ledger.broken": "記録 {file} を読み取れません。Pod の唯一の手がかりかもしれません",
  "rent.ledger.broken.hint":
    "アカウントの Pod を確かめ（`tias-remote sweep` でこのツールの Pod を一覧できます），そのあとファイルを別の場所に移してください",
  "rent.send.unreadable": "{path} を送れません：{problem}",
  "rent.send.unreadable.hint": "configs/train.yaml の `send:` を直してください",
  "rent.outside.hint":
    'プロジェクトの外にあります。deno.json の権限セット `train` の `read` と `write`（ここ 1 か所だけ）に "{folder}" を足してください',
  "rent.no_list": "Pod から取ったチェックポイントの一覧がありません",
  "rent.hub.public.hint": "Hub でリポジトリを非公開にするか，`hub.repository` に別の名前を書いてください",
};
