/**
 * The bytes of one packet of the extended query protocol. One buffer, because a write of several costs Node more than
 * copying them. https://www.postgresql.org/docs/current/protocol-message-formats.html
 */

/** A prepared statement. Its values travel as text. */
export interface Step {
  name: string;
  text: string;
  values: readonly (string | number | null)[];
}

const codes = { parse: 0x50, bind: 0x42, execute: 0x45, sync: 0x53 };

/** @param isNew whether PostgreSQL must read the step's text first @returns Parse, Bind and Execute of each step, and Sync */
export function packetBytes(steps: readonly Step[], isNew: (step: Step) => boolean): Buffer {
  const parsed = steps.map(isNew);
  let size = 5;
  for (const [index, { name, text, values }] of steps.entries()) {
    const named = Buffer.byteLength(name);
    if (parsed[index]) size += 9 + named + Buffer.byteLength(text);
    size += 23 + named + 4 * values.length;
    for (const value of values) if (value !== null) size += Buffer.byteLength(String(value));
  }
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  const text = (value: string) => {
    at += bytes.write(value, at);
    bytes[at++] = 0;
  };
  /** A message without its content. @returns where its length is */
  const begin = (code: number) => {
    bytes[at] = code;
    at += 5;
    return at - 4;
  };
  const end = (start: number) => bytes.writeInt32BE(at - start, start);

  for (const [index, step] of steps.entries()) {
    if (parsed[index]) {
      const parse = begin(codes.parse);
      text(step.name);
      text(step.text);
      at = bytes.writeInt16BE(0, at); // PostgreSQL infers the types of parameters
      end(parse);
    }
    const bind = begin(codes.bind);
    text(""); // the portal without a name
    text(step.name);
    at = bytes.writeInt16BE(0, at); // parameters are text
    at = bytes.writeInt16BE(step.values.length, at);
    for (const value of step.values) {
      const length = value === null ? -1 : bytes.write(String(value), at + 4);
      at = bytes.writeInt32BE(length, at) + Math.max(length, 0);
    }
    at = bytes.writeInt16BE(0, at); // so is the answer
    end(bind);
    const execute = begin(codes.execute);
    text("");
    at = bytes.writeInt32BE(0, at); // all rows
    end(execute);
  }
  end(begin(codes.sync));
  return bytes;
}
