/** Writes PDF of any length for measuring: pages of set text with headings, as a word processor would make them. */

const words =
  "the report of this year says what was planned done and left out in every district with figures for schools roads water and health while costs rose by seven percent against the year before".split(
    " ",
  );

/** Nodes of the tree of pages have so many children, as TeX and browsers write it. */
const branch = 8;

/** @param pages each with a heading and 44 lines of 12 words; no two pages are the same */
export function makePdf(pages: number): Buffer {
  const objects: string[] = [];
  const add = (body: string) => objects.push(body); // returns its number, from 1
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add(""); // the root of the tree, once its children are known
  add("<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>");
  const attributes = "/MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >>";
  let level = Array.from({ length: pages }, (_, page) => {
    const content = draw(page);
    const stream = add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    return { number: add(`<< /Type /Page ${attributes} /Contents ${stream} 0 R /Parent `), count: 1 };
  });
  while (level.length > 0) {
    const isRoot = level.length <= branch;
    const parents: typeof level = [];
    for (let at = 0; at < level.length; at += branch) {
      const kids = level.slice(at, at + branch);
      const count = kids.reduce((sum, kid) => sum + kid.count, 0);
      const node = `<< /Type /Pages /Count ${count} /Kids [${kids.map((kid) => `${kid.number} 0 R`).join(" ")}]`;
      const number = isRoot ? 2 : add(`${node} /Parent `);
      if (isRoot) objects[1] = `${node} >>`;
      for (const kid of kids) objects[kid.number - 1] += `${number} 0 R >>`;
      parents.push({ number, count });
    }
    level = isRoot ? [] : parents;
  }
  let text = "%PDF-1.4\n";
  const offsets = objects.map((body, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

function draw(page: number): string {
  const lines = Array.from({ length: 44 }, (_, line) =>
    Array.from({ length: 12 }, (_, word) => words[(page * 7 + line * 13 + word * word) % words.length]).join(" "),
  );
  const body = lines.map((line, at) => `1 0 0 1 72 ${740 - at * 15} Tm (${line} ${page}.${at}.) Tj`);
  return `BT /F 18 Tf 1 0 0 1 72 770 Tm (Chapter ${page + 1}) Tj /F 11 Tf ${body.join("\n")} ET`;
}
