import {
  commonJump,
  type Draft,
  type DraftField,
  type DraftServer,
  faultOfField,
  suggestedName,
} from "../config/draft.ts";
import { describeRoute, destinationOf, type Route } from "../ssh/local.ts";
import type { Context } from "../system/context.ts";
import { message, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";
import { paint } from "./paint.ts";

/** What is known before anything is asked. */
export interface Proposals {
  readonly sshConfig: string | null;
  readonly remoteDir: string;
  readonly dataDir: string;
  readonly uv: string;
}

type World = Pick<Context, "err" | "input" | "interrupted">;

/** Asks a person for a configuration, offering for each host what ssh itself makes of it. */
export async function askForDraft(
  world: World,
  texts: Texts,
  proposals: Proposals,
  findRoute: (host: string) => Promise<Route | undefined>,
): Promise<Draft> {
  const { say } = texts;
  const ask = (question: string, field: DraftField, proposal?: string, more?: Check) =>
    askUntilRight(world, question, (answer) => fieldFault(texts, field, answer) ?? more?.(answer), proposal);
  const servers: DraftServer[] = [];
  const jumps = new Set<string | null>();
  for (;;) {
    const typed = await ask(
      say(servers.length === 0 ? "init.ask.first_host" : "init.ask.next_host"),
      "address",
      servers.length === 0 ? undefined : "",
    );
    if (typed === "") break;
    const route = await findRoute(typed);
    // `user@host`: ssh takes the first @ that is no part of the user's name, the last one.
    const host = typed.slice(typed.lastIndexOf("@") + 1);
    jumps.add(route?.jump ?? null);
    await world.err.write(`  ${routeSentence(texts, route)}\n`);
    const taken = (name: string) =>
      servers.some((server) => server.name === name) ? say("config.allowed.unique_name") : undefined;
    servers.push({
      name: await ask(say("init.ask.name"), "name", suggestedName(host), taken),
      address: host,
      user: await ask(say("init.ask.user"), "user", route?.user),
      dataReady: await confirm(world, texts, say("init.ask.data_ready"), false),
      goesTo: destinationOf(host, route),
    });
  }
  const jump = await ask(say("init.ask.jump_host"), "jump_host", commonJump(jumps) ?? "");
  return {
    jump: jump === "" ? null : jump,
    sshConfig: proposals.sshConfig,
    servers,
    remoteDir: await ask(say("init.ask.remote_dir"), "remote_dir", proposals.remoteDir),
    dataDir: await ask(say("init.ask.data_dir"), "data_dir", proposals.dataDir),
    uv: await ask(say("init.ask.uv"), "uv", proposals.uv),
  };
}

function routeSentence(texts: Texts, route: Route | undefined): string {
  if (route === undefined) return texts.say("init.route.unknown");
  const destination = sanitizeLine(`${route.user}@${describeRoute(route)}`);
  return texts.say("init.route", { destination });
}

/** A question that is answered by yes or no. */
export async function confirm(
  world: World,
  texts: Texts,
  question: string,
  proposal: boolean,
): Promise<boolean> {
  const check = (answer: string) => /^(y|yes|n|no)$/i.test(answer) ? undefined : texts.say("init.yes_or_no");
  const answer = await askUntilRight(world, question, check, proposal ? "y" : "n");
  return /^y/i.test(answer);
}

/** Why an answer cannot be taken; `undefined` if it can. */
type Check = (answer: string) => string | undefined;

function fieldFault(texts: Texts, field: DraftField, answer: string): string | undefined {
  const fault = faultOfField(field, answer);
  return fault === undefined ? undefined : texts.sentence(fault);
}

async function askUntilRight(
  world: World,
  question: string,
  check: Check,
  proposal?: string,
): Promise<string> {
  for (;;) {
    const offered = proposal === undefined || proposal === "" ? "" : ` [${sanitizeLine(proposal)}]`;
    await world.err.write(`${paint(world.err, "strong", question)}${offered}: `);
    const line = await world.input.readLine(world.interrupted);
    if (line === undefined) {
      await world.err.write("\n");
      world.interrupted.throwIfAborted();
      throw new UserError(message("init.given_up"), { hint: message("init.given_up.hint") });
    }
    const answer = line.trim();
    if (answer === "" && proposal !== undefined) return proposal;
    const fault = check(answer);
    if (fault === undefined) return answer;
    await world.err.write(`  ${paint(world.err, "warning", fault)}\n`);
  }
}
