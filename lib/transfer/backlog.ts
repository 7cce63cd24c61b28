/** Bytes of an archive that are held in memory before any of it is judged. */
const backlogBytes = 64 * 1024 * 1024;
const blockBytes = 1024 * 1024;

/** Takes the bytes of an archive in pieces. */
export interface ArchiveSink {
  push(bytes: Uint8Array): void;
}

/**
 * Holds an archive in memory as it came, and hands it over when it is complete. So ssh never waits for the judging,
 * which costs more than the time: its own buffer grows meanwhile, and it copies all of that at every step. What is
 * handed over stays as it is. An archive that is too large for the memory is handed over once this is known; from then
 * on it goes straight through.
 */
export class Backlog implements ArchiveSink {
  readonly #next: ArchiveSink;
  readonly #overflow: () => void;
  readonly #limit: number;
  #blocks: Uint8Array[] = [];
  #length = 0;
  #isFull = false;

  /** @param overflow called once, before the first piece that will not stay as it is */
  constructor(next: ArchiveSink, overflow: () => void, limit = backlogBytes) {
    this.#next = next;
    this.#overflow = overflow;
    this.#limit = limit;
  }

  /** Bytes taken so far. */
  get length(): number {
    return this.#length;
  }

  /** Says how many bytes will come: what is too much need not be held first. */
  expect(bytes: number): void {
    if (bytes > this.#limit) this.#letThrough();
  }

  push(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#limit) this.#letThrough();
    if (this.#isFull) {
      this.#length += bytes.length;
      this.#next.push(bytes);
    } else {
      this.#hold(bytes);
    }
  }

  /** The archive is complete: hands over what is held. */
  finish(): void {
    const filled = this.#length % blockBytes;
    this.#blocks.splice(0).forEach((block, index, { length }) =>
      this.#next.push(index === length - 1 && filled > 0 ? block.subarray(0, filled) : block)
    );
  }

  #hold(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const filled = this.#length % blockBytes;
      if (filled === 0) this.#blocks.push(new Uint8Array(blockBytes));
      const part = bytes.subarray(at, at + blockBytes - filled);
      this.#blocks.at(-1)?.set(part, filled);
      this.#length += part.length;
      at += part.length;
    }
  }

  #letThrough(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    this.#overflow();
    this.finish();
  }
}
