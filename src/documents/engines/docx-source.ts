/**
 * Changes a DOCX before a parser reads it, because parsers read only some of it. Tracked changes are accepted: inserted and
 * moved text counts, deleted text and the place that text was moved from do not. Fields and tags keep their text. Formulas,
 * labels of lists and signs of symbol fonts become text. Hidden text is left out.
 * https://learn.microsoft.com/en-us/dotnet/api/documentformat.openxml.wordprocessing
 * Next hop: `docx-formulas.ts`, `docx-lists.ts`.
 */
import { hex } from "dingbat-to-unicode";
import { markFormulas } from "./docx-formulas.ts";
import { markLists } from "./docx-lists.ts";
import { anyMark, markNotes } from "./docx-marks.ts";
import { readPart } from "./package.ts";
import { withParts } from "./with-parts.ts";

const gone = /<w:(del|moveFrom|customXmlPr|smartTagPr|[pr]PrChange)(?:\s[^>]*[^/])?>[\s\S]*?<\/w:\1>/g;
/** Elements around text, of which parsers drop some with what is in them. */
const around = /<\/?w:(?:ins|moveTo|fldSimple|smartTag|customXml)(?:\s[^>]*)?>/g;
const part = /^word\/(?:document|footnotes|endnotes|comments)\d*\.xml$/;

/** Runs of hidden text. Those with runs of their own in them, and parts of fields, stay. */
const hidden =
  /<w:r(?:\s[^>]*)?>\s*<w:rPr>(?:(?!<\/w:rPr>)[\s\S])*?<w:vanish(?:\s+w:val="(?:1|true|on)")?\s*\/>(?:(?!<w:(?:r[ >]|fldChar\b))[\s\S])*?<\/w:r>/g;
/** Small signs above others, as in Japanese, say how these are read. */
const ruby = /<w:ruby>(?:(?!<\/w:ruby>)[\s\S])*?<w:rubyBase>((?:(?!<\/w:ruby>)[\s\S])*)<\/w:ruby>/g;

/** Elements in a run that one of the parsers drops. */
const withSigns = (text: string) =>
  text
    .replaceAll(ruby, (_, base: string) => base.match(/<w:t(?:\s[^>]*)?>[^<]*<\/w:t>/g)?.join("") ?? "")
    .replaceAll(/<w:ptab(?:\s[^>]*)?\/>/g, "<w:tab/>")
    .replaceAll(/<w:sym\s[^>]*\/>/g, (sign) => {
      const value = (name: string) => new RegExp(`\\sw:${name}="([^"]*)"`).exec(sign)?.[1] ?? "";
      // Codes of these fonts may stand in the private use area.
      const found = hex(value("font"), value("char").replace(/^F0(?=..$)/i, ""));
      return found ? `<w:t>${found.string}</w:t>` : sign;
    });

/** A line may end behind a soft one, and not behind the other, as in E‑Mail. kordoc reads neither. */
const withHyphens = (text: string) =>
  text.replaceAll(/<w:softHyphen\s*\/>/g, "").replaceAll(/<w:noBreakHyphen\s*\/>/g, "<w:t>\u2011</w:t>");

export const prepareDocx = (bytes: Buffer): Promise<Buffer> =>
  withParts(bytes, part, (before, name) => {
    const accepted = before.replace(anyMark, "").replace(gone, "").replace(around, "");
    const readable = markFormulas(withHyphens(withSigns(accepted).replace(hidden, "")));
    const isBody = name.startsWith("word/document");
    return isBody ? markLists(readable, (other) => readPart(bytes, other)) : markNotes(readable);
  });
