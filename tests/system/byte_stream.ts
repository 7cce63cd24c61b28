/** A stream like those of programs, which can be read into the reader's own buffer, from any stream of bytes. */
export function byteStream(from: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = from.getReader();
  const source: UnderlyingByteSource = {
    type: "bytes",
    async pull(controller) {
      const { done, value } = await reader.read();
      if (value !== undefined && value.length > 0) return controller.enqueue(value.slice());
      if (!done) return this.pull?.(controller);
      controller.close();
      // A read into someone's own buffer waits for this.
      controller.byobRequest?.respond(0);
    },
    cancel: (reason) => reader.cancel(reason),
  };
  return new ReadableStream(source);
}
