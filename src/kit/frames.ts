/** Messages over a pipe between two of our processes: a JSON head, then bytes. Eight bytes in front contain both lengths. */
import type { Readable, Writable } from "node:stream";

/** Maximum bytes of a message: an uncompressed image of 40 megapixels. */
const usual = 256 * 1024 * 1024;

export function writeFrame(stream: Writable, head: object, bytes: Uint8Array = new Uint8Array()): void {
  const text = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(text.length, 0);
  lengths.writeUInt32BE(bytes.length, 4);
  stream.write(Buffer.concat([lengths, text]));
  if (bytes.length > 0) stream.write(bytes);
}

interface Limits {
  /** In bytes of a message. (Default: 268435456, 256 MiB) */
  largest?: number | undefined;
  /** Called for a message that is too long. */
  refuse?(): void;
}

/** Calls back for each whole message. A message that is too long or has an invalid head destroys the stream. */
export function readFrames<Head>(
  stream: Readable,
  take: (head: Head, bytes: Buffer) => void,
  { largest = usual, refuse }: Limits = {},
): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted = 8;
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const all = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      const [headLength, length] = [all.readUInt32BE(0), all.readUInt32BE(4)];
      const end = 8 + headLength + length;
      if (end > largest) {
        refuse?.();
        return void stream.destroy();
      }
      chunks = [all];
      if (size < end) {
        wanted = end;
        return;
      }
      chunks = size > end ? [all.subarray(end)] : [];
      size -= end;
      wanted = 8;
      try {
        take(JSON.parse(all.toString("utf8", 8, 8 + headLength)), all.subarray(8 + headLength, end));
      } catch {
        return void stream.destroy();
      }
    }
  });
}
