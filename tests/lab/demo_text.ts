/** What the demo says between the commands. */
export const demoText = {
  en: {
    welcome:
      "This is a laboratory that exists only on this machine: two ssh servers with simulated GPUs behind a jump host.",
    needs: (program: string) =>
      `The demo needs ${program}, and it is not installed. Install it and try again.`,
    gpus:
      "1. Which GPU is really free? Both servers are observed for 3 seconds, over one ssh connection each.",
    gpusAfter:
      "Newton GPU 0 flips between 0 and 74 %, so it is busy although most instants look free. GPU 1 is held by alice.",
    push: "2. Send the code of a sample project to both servers (never its data/ and runs/).",
    run: "3. Start a job. tias-remote takes the first unused GPU, although its server comes second.",
    logs: "4. Follow its log until it ends. It runs in tmux; closing this window would not stop it.",
    status: "5. The jobs and GPUs of all servers at one glance.",
    done: "That was all: every ssh server, tmux and file of the demo is gone again.",
    next: [
      "Next, with your own servers:",
      "  1. Copy configs/remote.yaml into the configs/ folder of your project and edit the addresses, users and folders.",
      "  2. In that project, run: tias-remote gpus",
    ],
    failed: (command: string, code: number) =>
      `\`${command}\` ended with exit code ${code}; that should not happen.`,
  },
  ja: {
    welcome:
      "このマシンの中だけにある研究室です。踏み台の先に，模擬 GPU を載せた ssh サーバが 2 台あります。",
    needs: (program: string) =>
      `デモには ${program} が必要ですが，入っていません。入れてからもう一度実行してください。`,
    gpus: "1. 本当に空いている GPU はどれか。2 台を 3 秒間，それぞれ 1 本の ssh 接続で観測します。",
    gpusAfter:
      "Newton の GPU 0 は 0〜74% を往復しているので，瞬間値では空きに見えても「使用中」です。GPU 1 は alice がつかんでいます。",
    push: "2. サンプルのプロジェクトのコードを両方へ送ります（data/ と runs/ は送りません）。",
    run: "3. ジョブを起動します。優先順位の低いサーバでも，未使用の GPU を先に選びます。",
    logs: "4. 終わるまでログを追います。ジョブは tmux の中で動くので，この画面を閉じても止まりません。",
    status: "5. 全サーバのジョブと GPU を一目で見ます。",
    done: "以上です。デモで起動した ssh サーバ・tmux・ファイルはすべて片付けました。",
    next: [
      "次は自分のサーバで：",
      "  1. configs/remote.yaml を自分のプロジェクトの configs/ にコピーし，アドレス・ユーザー・フォルダを書き換えます。",
      "  2. そのプロジェクトで tias-remote gpus を実行します。",
    ],
    failed: (command: string, code: number) =>
      `\`${command}\` が終了コード ${code} で終わりました。想定外です。`,
  },
} as const;
