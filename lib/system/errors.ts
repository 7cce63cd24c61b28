import type { MessageId, MessageParams } from "../text/message.ts";

/** What the program tells the shell. The README has the same table. */
export const ExitCode = {
  Done: 0,
  /** The work failed: a server could not be reached, a job failed, a file was refused. */
  Failed: 1,
  /** The command line or a configuration file is wrong. */
  Usage: 2,
  /** Nothing suitable: no free GPU. A script may wait and try again. */
  NothingSuitable: 3,
  NotAuthorised: 4,
  /** A bug in this program. */
  Bug: 70,
  TimedOut: 124,
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** A sentence of the catalogue with its parameters, not yet in any language. */
export interface Message<Id extends MessageId = MessageId> {
  readonly id: Id;
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
  override readonly name = "UserError";
  readonly text: Message;
  readonly hint: Message | undefined;
  readonly exit: ExitCode;
  /** Further lines printed under the sentence: server states, files of a list. Already sanitised by the printer. */
  readonly details: readonly string[];

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
