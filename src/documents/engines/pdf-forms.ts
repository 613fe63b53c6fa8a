/**
 * What was filled into fields of a form, and notes that are written onto the page. Neither is text of the page itself.
 * Next hop: `pdf-text.ts` adds it to the text.
 */
import type { Run } from "./pdf-signs.ts";
import { floatsAt, type Matrix, moved, type OpenPdf, readText, scratch } from "./pdfium.ts";

/** Of fpdf_annot.h and fpdf_formfill.h. */
const subtypes = { freeText: 3, widget: 20 };
const fields = { unknown: 0, comboBox: 4, listBox: 5, textField: 6 };
/** Flags: hidden, and not shown on a screen. */
const hidden = 2 | 32;
/** Flag of a text field that shows a dot for each letter. Choices have no such flag, but use none of this value. */
const password = 1 << 13;

export function filledIn(pdf: OpenPdf, page: number, shown: Matrix): Run[] {
  const { pdfium } = pdf;
  const runs: Run[] = [];
  const count = pdfium.FPDFPage_GetAnnotCount(page);
  for (let at = 0; at < count; at++) {
    const annotation = pdfium.FPDFPage_GetAnnot(page, at);
    if (annotation === 0) continue;
    const text = pdfium.FPDFAnnot_GetFlags(annotation) & hidden ? "" : textOf(pdf, annotation);
    if (text.trim() !== "") runs.push(...linesOf(pdf, annotation, text, shown));
    pdfium.FPDFPage_CloseAnnot(annotation);
  }
  return runs;
}

function textOf(pdf: OpenPdf, annotation: number): string {
  const { pdfium, form } = pdf;
  const subtype = pdfium.FPDFAnnot_GetSubtype(annotation);
  if (subtype === subtypes.freeText) return stringOf(pdf, annotation, "Contents");
  if (subtype !== subtypes.widget) return "";
  const field = pdfium.FPDFAnnot_GetFormFieldType(form, annotation);
  // Of no field that the form lists, as after a merge of files.
  if (field <= fields.unknown) {
    const isShown = /^(Tx|Ch)$/.test(stringOf(pdf, annotation, "FT")) && !(flagsOf(pdf, annotation) & password);
    return isShown ? stringOf(pdf, annotation, "V") : "";
  }
  if (field === fields.textField && pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & password) return "";
  const selected = field === fields.listBox || field === fields.comboBox ? selectedOf(pdf, annotation) : "";
  if (selected !== "" || (field !== fields.textField && field !== fields.comboBox)) return selected;
  return readText(pdf, (place, room) => pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, place, room));
}

function selectedOf(pdf: OpenPdf, annotation: number): string {
  const { pdfium, form } = pdf;
  const labels: string[] = [];
  const count = pdfium.FPDFAnnot_GetOptionCount(form, annotation);
  for (let at = 0; at < count; at++) {
    if (pdfium.FPDFAnnot_IsOptionSelected(form, annotation, at) === 0) continue;
    labels.push(readText(pdf, (place, room) => pdfium.FPDFAnnot_GetOptionLabel(form, annotation, at, place, room)));
  }
  return labels.join(", ");
}

/** Calls `use` with the address of a key of dictionaries. */
const withKey = <T>(pdf: OpenPdf, key: string, use: (name: number) => T) =>
  scratch(pdf, key.length + 1, (name) => {
    pdf.memory.HEAPU8.set(Buffer.from(`${key}\0`), name);
    return use(name);
  });

/** A text of the annotation's dictionary. */
const stringOf = (pdf: OpenPdf, annotation: number, key: string) =>
  withKey(pdf, key, (name) =>
    readText(pdf, (place, room) => pdf.pdfium.FPDFAnnot_GetStringValue(annotation, name, place, room)),
  );

/** The field's flags in the annotation's dictionary. 0: there are none. */
const flagsOf = (pdf: OpenPdf, annotation: number) =>
  withKey(pdf, "Ff", (name) =>
    scratch(pdf, 4, (place) =>
      pdf.pdfium.FPDFAnnot_GetNumberValue(annotation, name, place) ? (floatsAt(pdf, place, 1)[0] as number) : 0,
    ),
  );

function linesOf(pdf: OpenPdf, annotation: number, text: string, shown: Matrix): Run[] {
  return scratch(pdf, 16, (place) => {
    pdf.pdfium.FPDFAnnot_GetRect(annotation, place);
    const [left = 0, top = 0, right = 0, bottom = 0] = floatsAt(pdf, place, 4);
    const [one, other] = [moved(shown, left, top), moved(shown, right, bottom)];
    const lines = text.split(/\r\n?|\n/);
    const room = Math.abs(other.y - one.y) / lines.length;
    const size = /([\d.]+)\s+Tf/.exec(stringOf(pdf, annotation, "DA"))?.[1];
    const height = Number(size) || Math.min(room, 10);
    return lines.map((line, at) => ({
      text: line,
      x: Math.min(one.x, other.x),
      right: Math.max(one.x, other.x),
      y: Math.min(one.y, other.y) + room * (at + 0.5) + 0.35 * height,
      height,
      font: "",
      isSpaced: true,
    }));
  });
}
