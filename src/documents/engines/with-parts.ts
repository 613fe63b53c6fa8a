/** Changes parts of an Office package before a parser reads it. Used by `docx-source.ts` and `xlsx-source.ts`. */
import JSZip from "jszip";
import { listZip } from "../zip.ts";
import { readPart } from "./package.ts";

/**
 * @param bytes a package that `package.ts` has scanned
 * @param names of the parts to change
 * @returns the same bytes if there is nothing to change
 */
export async function withParts(
  bytes: Buffer,
  names: RegExp,
  change: (xml: string, name: string) => string,
): Promise<Buffer> {
  const changed = new Map<string, string>();
  for (const { name } of listZip(bytes).filter((entry) => names.test(entry.name))) {
    const before = readPart(bytes, name);
    const after = change(before, name);
    if (after !== before) changed.set(name, after);
  }
  if (changed.size === 0) return bytes;
  const zip = await JSZip.loadAsync(bytes);
  for (const [name, text] of changed) zip.file(name, text);
  return zip.generateAsync({ type: "nodebuffer" });
}
