/** Pictures for bench/storage.ts: photographs of two sizes, and small files that would become very large ones. */
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";

/** Noise, softened: about as hard to read and to make as a photograph. */
export function photo(width: number, height: number): Promise<Buffer> {
  const noise = { type: "gaussian", mean: 128, sigma: 30 } as const;
  return sharp({ create: { width, height, channels: 3, background: "#808080", noise } })
    .blur(2)
    .jpeg({ quality: 85 })
    .toBuffer();
}

export interface Bomb {
  name: string;
  type: string;
  bytes: Buffer;
}

export async function bombs(): Promise<Bomb[]> {
  return [
    { name: "65,536 by 65,536", type: "image/png", bytes: png(65_536, 65_536) },
    { name: "17,000 by 17,000", type: "image/png", bytes: png(17_000, 17_000) },
    { name: "5,000 frames of 1,000 by 1,000", type: "image/gif", bytes: await gif(1_000, 5_000) },
  ];
}

/** Black, one bit a pixel, the rows as they would be: 17,000 squared take 35 KiB. Rows of the largest are left out. */
function png(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([1, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc(Math.min(height, 20_000) * (Math.ceil(width / 8) + 1));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** One frame, again and again. */
async function gif(side: number, frames: number): Promise<Buffer> {
  const one = await sharp({ create: { width: side, height: side, channels: 3, background: "#000" } })
    .gif()
    .toBuffer();
  const flags = one[10] ?? 0;
  const palette = flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
  const frame = one.subarray(13 + palette, -1); // up to the trailer
  return Buffer.concat([one.subarray(0, 13 + palette), ...Array(frames).fill(frame), one.subarray(-1)]);
}
