import type { MessageId, MessageParams } from "../text/message.ts";

/** What the program tells the shell. The README has the same table. */
export const ExitCode = {
  /** The work was done. A survey is, as soon as one server has answered. */
  Done: 0,
  /** The work failed: a server could not be reached, a job failed, a file was refused. */
  Failed: 1,
  /** The command line or a configuration file is wrong. */
  Usage: 2,
  /** Nothing suitable: no free GPU. A script may wait and try again. */
  NothingSuitable: 3,
  /** A key or token is missing, or was not accepted. */
  NotAuthorised: 4,
  /** A bug in this program. */
  Bug: 70,
  /** Waiting took longer than allowed. */
  TimedOut: 124,
  /** Ctrl-C, SIGTERM or SIGHUP. */
  Interrupted: 130,
} as const;
/** A value of the table above. */
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** A sentence of the catalogue with its parameters, not yet in any language. */
export interface Message<Id extends MessageId = MessageId> {
  /** Its key in the catalogue. */
  readonly id: Id;
  /** Put in as they are when the sentence is spoken, so what came from elsewhere is sanitised before. */
  readonly params: MessageParams<Id>;
}

/** Pairs a catalogue entry with its parameters; the parameters are checked against the entry's placeholders. */
export function message<Id extends MessageId>(
  id: Id,
  ...params: keyof MessageParams<Id> extends never ? [] : [MessageParams<Id>]
): Message {
  return { id, params: (params[0] ?? {}) as MessageParams<Id> } as unknown as Message;
}

/** Something that the user can cause or mend: one sentence on what could not be done, and one on what to do. */
export class UserError extends Error {
  /** Tells it apart where `instanceof` cannot. */
  override readonly name = "UserError";
  /** What could not be done, and why; `message` has only its key and parameters, for a stack trace. */
  readonly text: Message;
  /** What to do about it, as a second sentence. */
  readonly hint: Message | undefined;
  /** What a command ends with that does not catch it. */
  readonly exit: ExitCode;
  /** Further lines printed under the sentence: server states, files of a list. Already sanitised by the printer. */
  readonly details: readonly string[];

  /** `exit` is {@linkcode ExitCode}`.Failed` unless given. */
  constructor(
    text: Message,
    options: { hint?: Message; exit?: ExitCode; details?: readonly string[]; cause?: unknown } = {},
  ) {
    super(`${text.id} ${JSON.stringify(text.params)}`, { cause: options.cause });
    this.text = text;
    this.hint = options.hint;
    this.exit = options.exit ?? ExitCode.Failed;
    this.details = options.details ?? [];
  }
}
