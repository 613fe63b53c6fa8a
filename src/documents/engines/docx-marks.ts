/**
 * Marks in the text of a DOCX, which survive parsers that drop what they stand for: formulas, the labels of lists
 * and the beginnings of notes. They are signs of the private use area, which no text has.
 * Next hop: `docx-source.ts` sets them before a parser runs, `run.ts` resolves them after it.
 */

const [formula, formulaEnd, item, itemEnd, note] = ["\ue000", "\ue001", "\ue002", "\ue003", "\ue004"];
export const anyMark = /[\ue000-\ue004]/g;

export const markFormula = (latex: string) => `${formula}${latex}${formulaEnd}`;
/** @param label such as "2.1."; "" for a bullet */
export const markItem = (level: number, label: string) => `${item}${level} ${label}${itemEnd}`;

const startOfNote = /<w:(foot|end)note\s(?:(?!<\/w:\1note>)[\s\S])*?<w:t(?:\s[^>]*)?>/g;
/** kordoc writes the Korean word for a note before each of its notes. */
const wordOfNote = /(?<=\()주: ?\ue004\s*/g;
/** Many notes begin with a space behind their number. */
const spaceOfNote = /(?<=\ue004)[ \t]+/g;

/** @param notes XML of the part of footnotes or endnotes */
export const markNotes = (notes: string) => notes.replace(startOfNote, (start) => start + note);

const itemAtStart = /^[ \t]*(?:[-*•] |\d+\\?\. )?[ \t]*((?:\*\*|[*_])*)\ue002(\d+) ([^\ue003]*)\ue003[ \t]*(.*)$/;
/** Labels that begin an item of a list in Markdown; others are text of the item. */
const known = /^\d{1,9}[.)]$/;

export function resolveMarks(markdown: string): string {
  if (markdown.search(anyMark) < 0) return markdown;
  return nested(markdown.split("\n"))
    .join("\n")
    .replace(/\ue000([^\ue000\ue001]*)\ue001/g, (_, latex: string) => latex.replace(/\\([\\_*`[\]<])/g, "$1"))
    .replace(/\ue002\d+ ([^\ue003]*)\ue003/g, (_, label: string) => (label === "" ? "" : `${unescaped(label)} `))
    .replace(wordOfNote, "")
    .replace(spaceOfNote, "")
    .replace(anyMark, "");
}

/** Items are indented below those of higher levels, until a line that is no item. */
function nested(lines: string[]): string[] {
  let above: number[] = [];
  return lines.map((line) => {
    const [, style = "", digits = "", label = "", text = ""] = itemAtStart.exec(line) ?? [];
    if (digits === "") {
      if (line.trim() !== "") above = [];
      return line;
    }
    const level = Number(digits);
    above = above.filter((other) => other < level);
    const plain = unescaped(label);
    const start = plain === "" ? "- " : known.test(plain) ? `${plain} ` : `- ${plain} `;
    return `${" ".repeat(4 * (above.push(level) - 1))}${start}${style}${text}`;
  });
}

const unescaped = (label: string) => label.replace(/\\(?=[^\p{L}\p{N}\s])/gu, "");
