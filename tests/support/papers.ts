/**
 * Small documents made by tests: a PDF and a DOCX with a text layer, without a library that could have the same bugs.
 */
import JsZip from "jszip";

/** @param pages lines of plain ASCII; the first of a page is set large, as a heading */
export function pdf(pages: string[][]): Buffer {
  const objects: string[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  const kids = pages.map((lines) => {
    const shown = lines.map((line, at) => {
      const text = line.replaceAll(/[\\()]/g, "\\$&");
      return `/F1 ${at === 0 ? 24 : 11} Tf 1 0 0 1 60 ${740 - at * 40} Tm (${text}) Tj`;
    });
    const stream = `BT ${shown.join("\n")} ET`;
    objects.push(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
    const fonts = "/Resources << /Font << /F1 3 0 R >> >>";
    objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] ${fonts} /Contents ${objects.length} 0 R >>`);
    return `${objects.length} 0 R`;
  });
  objects[1] = `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${kids.length} >>`;

  let body = "%PDF-1.4\n";
  const places = objects.map((object, at) => {
    const place = body.length;
    body += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(body + table + trailer, "latin1");
}

/** @param paragraphs plain text; those that begin with # are headings */
export async function docx(paragraphs: string[]): Promise<Buffer> {
  const open = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
  const written = paragraphs.map((text) => {
    const style = text.startsWith("# ") ? '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' : "";
    return `<w:p>${style}<w:r><w:t>${text.replace(/^# /, "")}</w:t></w:r></w:p>`;
  });
  const types = "application/vnd.openxmlformats-officedocument.wordprocessingml";
  return new JsZip()
    .file(
      "[Content_Types].xml",
      `${open}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="${types}.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="${types}.styles+xml"/></Types>`,
    )
    .file(
      "_rels/.rels",
      `${open}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    )
    .file(
      "word/_rels/document.xml.rels",
      `${open}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`,
    )
    .file(
      "word/styles.xml",
      `${open}<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>`,
    )
    .file(
      "word/document.xml",
      `${open}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${written.join("")}</w:body></w:document>`,
    )
    .generateAsync({ type: "nodebuffer" });
}
