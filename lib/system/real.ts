import type { Clock, Context, EnvironmentName, Input, Output, RunningProcess } from "./context.ts";
import { message, UserError } from "./errors.ts";

/** The real world. Made once, in main; everything else gets it as an argument. */
export function realContext(): Context {
  let interrupted: AbortSignal | undefined;
  return {
    out: realOutput(Deno.stdout),
    err: realOutput(Deno.stderr),
    input: realInput(Deno.stdin),
    clock: realClock,
    os: Deno.build.os,
    env: readVariable,
    cwd: () => Deno.cwd(),
    hostname: () => Deno.hostname(),
    random: (length) => crypto.getRandomValues(new Uint8Array(length)),
    start: (spec) => startProcess(spec.program, [...spec.args], spec.env ?? {}),
    fetch: (input, init) => fetch(input, init),
    // Listening to signals takes half a millisecond, which `--help` need not wait for.
    get interrupted() {
      return interrupted ??= interruption();
    },
    onSignal: listenToSignals,
  };
}

function readVariable(name: EnvironmentName): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

function realOutput(stream: typeof Deno.stdout): Output {
  let closed = false;
  return {
    isTerminal: stream.isTerminal(),
    get columns() {
      return terminalColumns();
    },
    get isClosed() {
      return closed;
    },
    async write(data) {
      const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
      try {
        for (let at = 0; at < bytes.length && !closed;) at += await stream.write(bytes.subarray(at));
      } catch (error) {
        // The reader has left (`tias-remote logs x | head`): what remains has no one to see it. Nor has a failure of
        // standard error, where failures are told.
        closed = true;
        if (error instanceof Deno.errors.BrokenPipe || stream === Deno.stderr) return;
        throw new UserError(message("output.failed", { problem: (error as Error).message }), {
          hint: message("output.failed.hint"),
          cause: error,
        });
      }
    },
  };
}

function realInput(stream: typeof Deno.stdin): Input {
  const decoder = new TextDecoder();
  let held = "";
  let ended = false;
  return {
    isTerminal: stream.isTerminal(),
    async readLine(signal) {
      const aborted = new Promise<"aborted">((resolve) => {
        if (signal.aborted) resolve("aborted");
        else signal.addEventListener("abort", () => resolve("aborted"), { once: true });
      });
      while (!ended && !held.includes("\n")) {
        const bytes = new Uint8Array(4096);
        // A read cannot be called off: on a terminal it waits for the next line until the program ends.
        const count = await Promise.race([stream.read(bytes), aborted]);
        if (count === "aborted") return undefined;
        ended = count === null;
        held += decoder.decode(bytes.subarray(0, count ?? 0), { stream: !ended });
      }
      if (held === "") return undefined;
      const end = held.indexOf("\n");
      const line = end === -1 ? held : held.slice(0, end);
      held = end === -1 ? "" : held.slice(end + 1);
      return line.replace(/\r$/, "");
    },
  };
}

// `consoleSize` throws where there is no terminal and may say 0.
function terminalColumns(): number {
  try {
    return Deno.consoleSize().columns || 80;
  } catch {
    return 80;
  }
}

const realClock: Clock = {
  now: () => new Date(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const timer = setTimeout(done, milliseconds);
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      }
      signal?.addEventListener("abort", done, { once: true });
    }),
};

function startProcess(program: string, args: string[], env: Record<string, string>): RunningProcess {
  const child = new Deno.Command(program, { args, env, stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    status: child.status.then(({ code, signal }) => ({ code, signal })),
    kill() {
      try {
        child.kill("SIGTERM");
      } catch {
        // It has ended already.
      }
    },
  };
}

/** Aborts at the first Ctrl-C, SIGTERM or SIGHUP; a second one then has its usual effect and ends the program. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const giveUp = listenToSignals(() => {
    controller.abort();
    giveUp();
  });
  return controller.signal;
}

function listenToSignals(listener: () => void): () => void {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) Deno.addSignalListener(signal, listener);
  return () => {
    for (const signal of signals) Deno.removeSignalListener(signal, listener);
  };
}
