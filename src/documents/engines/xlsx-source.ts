/**
 * Changes an XLSX before a parser reads it, because none reads escaped characters: workbooks write those that XML cannot
 * hold as _x000D_, and the underscore of a text that looks like such a code as _x005F_ (ECMA-376 part 1, ST_Xstring).
 */
import { withParts } from "./with-parts.ts";

const part = /^xl\/(sharedStrings|worksheets\/[^/]+|comments\d*|comments\/[^/]+)\.xml$/;
const escaped = /_x([0-9A-Fa-f]{4})_/g;

export const prepareXlsx = (bytes: Buffer): Promise<Buffer> =>
  withParts(bytes, part, (xml) => xml.replace(escaped, (_, hex: string) => inXml(Number.parseInt(hex, 16))));

/** As a reference, which attributes may hold, too. Of control characters most belong to a line end: _x000D_ and a newline. */
const inXml = (code: number) => (code < 32 ? " " : `&#${code};`);
