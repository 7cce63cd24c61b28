/** Waits in tests for what another process does in its own time. */

/** Resolves when `condition` holds. @throws if it does not in half a minute, which is long after it should. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !await condition(); tries++) {
    if (tries === 1000) throw new Error(`Cannot wait any longer until ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** The text of a file as soon as it has any. */
export async function fileText(path: string): Promise<string> {
  let text = "";
  await waitUntil(async () => (text = await Deno.readTextFile(path).catch(() => "")) !== "");
  return text;
}

/** The first line of a stream, the rest of which is given up. */
export async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (
    const part of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
  ) {
    text += part;
    if (text.includes("\n")) break;
  }
  return text.slice(0, text.indexOf("\n"));
}
