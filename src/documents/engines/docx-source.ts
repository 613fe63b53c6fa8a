/**
 * Changes a DOCX before a parser reads it, because parsers read only some of it. Tracked changes are accepted: inserted and
 * moved text counts, deleted text and the place that text was moved from do not. Fields and tags keep their text. Formulas
 * and labels of lists become text.
 * https://learn.microsoft.com/en-us/dotnet/api/documentformat.openxml.wordprocessing
 * Next hop: `docx-formulas.ts`, `docx-lists.ts`.
 */
import JSZip from "jszip";
import { listZip } from "../zip.ts";
import { markFormulas } from "./docx-formulas.ts";
import { markLists } from "./docx-lists.ts";
import { anyMark } from "./docx-marks.ts";
import { readPart } from "./package.ts";

const gone = /<w:(del|moveFrom|customXmlPr|smartTagPr|pPrChange)(?:\s[^>]*[^/])?>[\s\S]*?<\/w:\1>/g;
/** Elements around text, of which parsers drop some with what is in them. */
const around = /<\/?w:(?:ins|moveTo|fldSimple|smartTag|customXml)(?:\s[^>]*)?>/g;
const part = /^word\/(?:document|footnotes|endnotes|comments)\d*\.xml$/;

/** A line may end behind a soft one, and not behind the other, as in E‑Mail. kordoc reads neither. */
const withHyphens = (text: string) =>
  text.replaceAll(/<w:softHyphen\s*\/>/g, "").replaceAll(/<w:noBreakHyphen\s*\/>/g, "<w:t>\u2011</w:t>");

/** @param bytes a package that `package.ts` has scanned @returns the same bytes if there is nothing to change */
export async function prepareDocx(bytes: Buffer): Promise<Buffer> {
  const names = listZip(bytes).flatMap(({ name }) => (part.test(name) ? [name] : []));
  const changed = new Map<string, string>();
  for (const name of names) {
    const before = readPart(bytes, name);
    const accepted = markFormulas(withHyphens(before.replace(anyMark, "").replace(gone, "").replace(around, "")));
    const isBody = name.startsWith("word/document");
    const after = isBody ? markLists(accepted, (other) => readPart(bytes, other)) : accepted;
    if (after !== before) changed.set(name, after);
  }
  if (changed.size === 0) return bytes;
  const zip = await JSZip.loadAsync(bytes);
  for (const [name, text] of changed) zip.file(name, text);
  return zip.generateAsync({ type: "nodebuffer" });
}
