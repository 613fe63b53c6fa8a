/** Small packages of Word and Excel, of the XML that a test names. */
import JSZip from "jszip";
import { docx } from "./papers.ts";

/** @param body the XML of the body @param parts further parts of the package */
export async function word(body: string, parts: Record<string, string> = {}): Promise<Buffer> {
  const zip = await JSZip.loadAsync(await docx(["PLACE"]));
  const document = await zip.file("word/document.xml")?.async("string");
  zip.file("word/document.xml", document?.replace(/<w:body>.*<\/w:body>/s, `<w:body>${body}</w:body>`) ?? "");
  for (const [name, xml] of Object.entries(parts)) zip.file(name, xml);
  return zip.generateAsync({ type: "nodebuffer" });
}
export const cell = (place: string, text: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
export const package_ = "http://schemas.openxmlformats.org/package/2006";
export const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
export const sheets = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
export const relation = (type: string, target: string) =>
  `<Relationships xmlns="${package_}/relationships"><Relationship Id="r1" Type="${office}/${type}" Target="${target}"/></Relationships>`;

/** @param rows XML of the only sheet's rows @param merges ranges @param parts further parts of the package, or others in their place */
export function workbook(rows: string, merges: string[] = [], parts: Record<string, string> = {}): Promise<Buffer> {
  const type = "application/vnd.openxmlformats-";
  const merged = merges.map((range) => `<mergeCell ref="${range}"/>`).join("");
  const zip = new JSZip()
    .file(
      "[Content_Types].xml",
      `<Types xmlns="${package_}/content-types"><Default Extension="rels" ContentType="${type}package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
    )
    .file("_rels/.rels", relation("officeDocument", "xl/workbook.xml"))
    .file("xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml"))
    .file(
      "xl/workbook.xml",
      `<workbook xmlns="${sheets}" xmlns:r="${office}"><sheets><sheet name="Sales" sheetId="1" r:id="r1"/></sheets></workbook>`,
    )
    .file(
      "xl/worksheets/sheet1.xml",
      `<worksheet xmlns="${sheets}"><sheetData>${rows}</sheetData><mergeCells>${merged}</mergeCells></worksheet>`,
    );
  for (const [name, xml] of Object.entries(parts)) zip.file(name, xml);
  return zip.generateAsync({ type: "nodebuffer", compression: "DEFLATE" });
}
