/**
 * Breaks connections on which PostgreSQL begins to send a very large row, before its bytes are held. A generated list is one row,
 * and so is a run with its steps and events: a caller decides how large they are. A text of more than 512 MiB is an error that
 * `pg` throws where nobody can catch it, and the process would end. Called by `pools.ts`; `errors.ts` says what the caller gets.
 */
import type pg from "pg";
import { wireOf } from "./driver.ts";

/** In bytes, for the platform's own statements, which read all steps of a run at once. Calls have `limits.rowBytes`. */
export const largestRow = 256 * 1024 * 1024;

/** The code of the error that a connection breaks with. */
const code = "SVC_ROW_TOO_LARGE";

/** Whether a statement failed because PostgreSQL began to send a larger row than is read. */
export const isRowTooLarge = (error: unknown): boolean => {
  const { cause } = Object(error) as { cause?: unknown };
  return [error, cause].some((one) => (Object(one) as { code?: unknown }).code === code);
};

const tooLarge = (bytes: number, most: number) =>
  Object.assign(new Error(`PostgreSQL began to send a row of ${bytes} bytes; at most ${most} are read.`), { code });

/** A message is a letter and four bytes of length, which counts itself. Source: PostgreSQL, protocol, message formats. */
const headerLength = 5;
const dataRow = 0x44;

/** Must be called on a connection to which the server has sent complete messages only, as after its start. */
export function breakIfRowTooLarge(client: pg.ClientBase, most: number): void {
  const { stream } = wireOf(client);
  let left = 0; // bytes until the next message begins
  let begun = Buffer.alloc(0); // of its header, at the end of the last chunk
  stream.prependListener("data", (chunk: Buffer) => {
    const bytes = begun.length > 0 ? Buffer.concat([begun, chunk]) : chunk;
    let at = left;
    while (at + headerLength <= bytes.length) {
      const length = bytes.readUInt32BE(at + 1);
      if (bytes[at] === dataRow && length > most) {
        stream.destroy(tooLarge(length, most));
        return;
      }
      at += 1 + length;
    }
    begun = Buffer.from(bytes.subarray(at));
    left = Math.max(at - bytes.length, 0);
  });
}
