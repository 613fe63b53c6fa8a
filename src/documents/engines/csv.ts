/** Parses rows and cells of CSV by RFC 4180, with the separator of its first lines. */

/** @returns rows of cells; lines without text are omitted */
export function parseCsv(text: string): string[][] {
  const separator = findSeparator(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] as string;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (sign === '"' && cell === "") isQuoted = true;
    else if (sign === separator) {
      row.push(cell);
      cell = "";
    } else if (sign === "\n") {
      rows.push([...row, cell]);
      row = [];
      cell = "";
    } else cell += sign;
  }
  rows.push([...row, cell]);
  return rows.filter((cells) => cells.some((one) => one !== ""));
}

/** Finds the separator with the most even count in the first lines, outside quotes. */
function findSeparator(text: string): string {
  const lines = text
    .slice(0, 20_000)
    .replace(/"[^"]*"/g, "")
    .split("\n")
    .filter(Boolean)
    .slice(0, 20);
  const score = (separator: string) => Math.min(...lines.map((line) => line.split(separator).length - 1));
  const ranked = [",", ";", "\t", "|"].map((separator) => ({ separator, score: score(separator) }));
  return ranked.sort((one, other) => other.score - one.score)[0]?.separator ?? ",";
}
