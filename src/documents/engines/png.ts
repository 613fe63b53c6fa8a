/** Writes a gray image as PNG (https://www.w3.org/TR/png-3/). */
import { crc32, deflateSync } from "node:zlib";

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** @param gray one byte a dot, line by line */
export function grayPng(width: number, height: number, gray: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits a dot; of the rest, 0 stands for gray and for the only method there is
  // Before each line stands how it was filtered: not at all.
  const lines = Buffer.alloc((width + 1) * height);
  for (let line = 0; line < height; line++) {
    lines.set(gray.subarray(line * width, (line + 1) * width), line * (width + 1) + 1);
  }
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(lines, { level: 1 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
