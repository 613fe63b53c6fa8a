/**
 * Accepts the tracked changes of a DOCX, because parsers read only some of them: inserted and moved text counts, deleted
 * text and the place that text was moved from do not. Fields and tags keep their text.
 * https://learn.microsoft.com/en-us/dotnet/api/documentformat.openxml.wordprocessing
 */
import JSZip from "jszip";
import { listZip } from "../zip.ts";

const gone = /<w:(del|moveFrom|customXmlPr|smartTagPr)(?:\s[^>]*[^/])?>[\s\S]*?<\/w:\1>/g;
/** Elements around text, of which parsers drop some with what is in them. */
const around = /<\/?w:(?:ins|moveTo|fldSimple|smartTag|customXml)(?:\s[^>]*)?>/g;
const part = /^word\/(?:document|footnotes|endnotes|comments)\d*\.xml$/;

/** @param bytes a package that `package.ts` has scanned @returns the same bytes if there is nothing to accept */
export async function acceptChanges(bytes: Buffer): Promise<Buffer> {
  const names = listZip(bytes).flatMap(({ name }) => (part.test(name) ? [name] : []));
  const zip = await JSZip.loadAsync(bytes);
  let isChanged = false;
  for (const name of names) {
    const before = await zip.file(name)?.async("string");
    if (before === undefined) continue;
    const after = before.replace(gone, "").replace(around, "");
    if (after === before) continue;
    isChanged = true;
    zip.file(name, after);
  }
  return isChanged ? zip.generateAsync({ type: "nodebuffer" }) : bytes;
}
