/** A small program over the real world, for a test that looks at it from outside. */

import { realContext } from "../../lib/system/real.ts";

const world = realContext();
const [what = "", ...rest] = Deno.args;

switch (what) {
  case "flood":
    for (let line = 0; line < 100_000; line++) await world.out.write(`${line}\n`);
    await world.err.write("done\n");
    break;
  case "full":
    await world.out.write("text\n").catch((error) => world.err.write(`${error.text.id}\n`));
    break;
  case "start": {
    const [program = "", ...args] = rest;
    const process = world.start({ program, args, env: { ADDED: "added" } });
    const writer = process.stdin.getWriter();
    await writer.write(new TextEncoder().encode("input"));
    await writer.close();
    const [out, err] = await Promise.all([
      new Response(process.stdout).text(),
      new Response(process.stderr).text(),
    ]);
    await world.out.write(JSON.stringify({ out, err, ...await process.status }));
    break;
  }
  case "kill": {
    const process = world.start({ program: "sleep", args: ["60"] });
    process.kill();
    await Promise.all([process.stdin.close(), process.stdout.cancel(), process.stderr.cancel()]);
    const { signal } = await process.status;
    process.kill();
    await world.out.write(`${signal}\n`);
    break;
  }
  case "env":
    await world.out.write(`${world.env("TIAS_REMOTE_JUMP") === undefined ? "unset" : "set"}\n`);
    break;
  case "wait": {
    const { interrupted } = world;
    await world.out.write("waiting\n");
    await world.clock.sleep(60_000, interrupted);
    await world.out.write(interrupted.aborted ? "interrupted\n" : "slept\n");
    break;
  }
  case "terminal":
    await world.out.write(`${world.out.isTerminal} ${world.err.isTerminal} ${world.out.columns}\n`);
    break;
}
Deno.exit(0);
