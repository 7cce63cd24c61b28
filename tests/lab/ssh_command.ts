/** One command of an ssh session: a process of the login shell on the pipes of a channel, without a terminal. */

import { spawn } from "node:child_process";
import { Transform, type TransformCallback } from "node:stream";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { ServerChannel } from "ssh2";
import type { ServerSpec } from "./spec.ts";

/** After how many bytes of which stream the connection breaks, and how. */
export interface Cut {
  readonly bytes: number;
  readonly stream?: "stdout" | "stdin";
  readonly drop: () => void;
}

/** Runs `command`, or a shell that reads its stdin, the way sshd does. */
export function runCommand(
  spec: ServerSpec,
  command: string | undefined,
  channel: ServerChannel,
  cut?: Cut,
) {
  const { noise, accountClosed } = spec.behaviour;
  if (accountClosed) {
    channel.write("This account is currently not available.\n");
    channel.exit(1);
    channel.end();
    return;
  }
  if (noise) channel.write(noise);

  const [program = "", ...args] = command === undefined ? spec.shell : [...spec.shell, "-c", command];
  const child = spawn(program, args, {
    cwd: spec.home,
    env: spec.env,
    // A session of its own, as sshd gives it: a Ctrl-C in the terminal of the tests must not reach it.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let broken = false;
  const passing = cut && firstBytes(cut.bytes, () => {
    broken = true;
    // Later, since ssh gives up what it has received and not yet written when it sees the end.
    setTimeout(cut.drop, 100);
  });
  const [input, output] = cut?.stream === "stdin" ? [passing] : [undefined, passing];
  (input ? channel.pipe(input) : channel).pipe(child.stdin);
  (output ? child.stdout.pipe(output) : child.stdout).pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr, { end: false });
  // A command need not read its stdin to the end.
  child.stdin.on("error", () => {});

  // "close" comes after the exit and the end of both outputs: like sshd, wait for whoever inherited them.
  child.once("close", (code, signal) => {
    if (broken) return;
    if (signal) channel.exit(signal.replace(/^SIG/, ""), false);
    else channel.exit(code ?? 255);
    channel.end();
  });
  // Without a terminal sshd sends no signal: the command meets the end of its stdin, and SIGPIPE when it writes.
  channel.on("error", () => {});
  channel.once("close", () => {
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
  });
}

/** Lets so many bytes through and swallows the rest. */
function firstBytes(count: number, reached: () => void): Transform {
  let left = count;
  return new Transform({
    transform(chunk: Uint8Array, _encoding: string, done: TransformCallback) {
      const passed = chunk.subarray(0, left);
      const last = left > 0 && passed.length === left;
      left -= passed.length;
      done(null, passed);
      if (last) reached();
    },
  });
}
