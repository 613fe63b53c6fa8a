/**
 * Reads a zip's directory and entries within limits, so that no parser meets a bomb: entries are counted, declared
 * sizes are added up, and an entry that is larger than declared is refused.
 * Next hop: `sniff.ts` looks at the names, `src/documents/engines/package.ts` at the contents.
 */
import { inflateRawSync } from "node:zlib";
import { unreadable } from "../text/refusals.ts";

export interface ZipEntry {
  name: string;
  /** 0 stored, 8 deflated. */
  method: number;
  isEncrypted: boolean;
  /** As declared, in bytes. */
  size: number;
  compressedSize: number;
  offset: number;
}

const zipLimits = { entries: 10_000, entryBytes: 128 * 1024 * 1024, bytes: 256 * 1024 * 1024, ratio: 400 };

const endSignature = 0x06054b50;
const centralSignature = 0x02014b50;

/** The directory at the end of the file. @throws SvcError DOCUMENT_UNREADABLE damaged, or past a limit */
export function listZip(bytes: Buffer): ZipEntry[] {
  const end = findEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  if (count > zipLimits.entries) throw unreadable("The package has too many entries.");
  const entries: ZipEntry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  let total = 0;
  for (let index = 0; index < count; index++) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== centralSignature) throw unreadable("The zip is damaged.");
    const nameLength = bytes.readUInt16LE(at + 28);
    const entry: ZipEntry = {
      name: bytes.toString("utf8", at + 46, at + 46 + nameLength),
      method: bytes.readUInt16LE(at + 10),
      isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
      size: bytes.readUInt32LE(at + 24),
      compressedSize: bytes.readUInt32LE(at + 20),
      offset: bytes.readUInt32LE(at + 42),
    };
    total += entry.size;
    refuseBomb(entry, total);
    entries.push(entry);
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

/** The contents of one entry. @throws SvcError DOCUMENT_UNREADABLE damaged, encrypted, or larger than declared */
export function readZip(bytes: Buffer, entry: ZipEntry): Buffer {
  const { offset, compressedSize, size, method, name } = entry;
  if (offset + 30 > bytes.length) throw unreadable("The zip is damaged.");
  const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  const packed = bytes.subarray(start, start + compressedSize);
  if (method === 0) return packed;
  if (method !== 8) throw unreadable("The zip uses an unsupported compression method.");
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
  } catch (cause) {
    throw unreadable(`The part ${JSON.stringify(name.slice(0, 80))} is damaged, or larger than it says.`, cause);
  }
}

function refuseBomb(entry: ZipEntry, total: number): void {
  const { name, size, compressedSize } = entry;
  const isBomb = size > 1024 * 1024 && size > compressedSize * zipLimits.ratio;
  if (isBomb || size > zipLimits.entryBytes || total > zipLimits.bytes) {
    throw unreadable("Unpacked, the package would be too large.");
  }
  // Nothing is unpacked to disk, but such a name is an attack.
  if (/(^|[\\/])\.\.([\\/]|$)|^[\\/]|^[A-Za-z]:/.test(name)) throw unreadable("A part's name leaves the package.");
}

/** Finds the record that closes a zip: 22 bytes, and a comment of up to 64 KiB. */
function findEnd(bytes: Buffer): number {
  const last = bytes.length - 22;
  for (let at = last; at >= Math.max(0, last - 65_535); at--) {
    if (bytes.readUInt32LE(at) === endSignature) return at;
  }
  throw unreadable("The zip has no directory: the file is cut off, or damaged.");
}
