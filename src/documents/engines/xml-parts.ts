/**
 * Reads the XML parts of an Office package. The package was scanned before (`package.ts`); the XML reader expands no
 * entities of a document.
 */
import { DOMParser, type Element } from "@xmldom/xmldom";
import { readPart } from "./package.ts";

/** @returns null if the package has no such part */
export function parsePart(bytes: Buffer, path: string): Element | null {
  const text = readPart(bytes, path);
  return text === "" ? null : new DOMParser({ onError: onXmlError }).parseFromString(text, "text/xml").documentElement;
}

function onXmlError(level: string, message: string): void {
  if (level !== "warning") throw new Error(message);
}

export interface Relation {
  id: string;
  /** The last word of its type, such as "comments". */
  type: string;
  path: string;
}

/** @param path of a part whose name ends in .rels */
export function relations(bytes: Buffer, path: string): Relation[] {
  const folder = path.replace(/_rels\/[^/]+$/, "");
  return all(parsePart(bytes, path), "Relationship").map((link) => {
    const target = link.getAttribute("Target") ?? "";
    // Hyperlinks are here, too: addresses as people typed them.
    const resolved = URL.parse(target, `file:///${folder}`)?.pathname.slice(1) ?? "";
    const type = link.getAttribute("Type") ?? "";
    return { id: link.getAttribute("Id") ?? "", type: type.slice(type.lastIndexOf("/") + 1), path: resolved };
  });
}

/** What a part such as a sheet refers to. */
export const relationsOf = (bytes: Buffer, part: string) => relations(bytes, part.replace(/([^/]+)$/, "_rels/$1.rels"));

/** Elements right below another one. */
export const childrenOf = (parent: Element | null | undefined): Element[] =>
  [...(parent?.childNodes ?? [])].filter((node): node is Element => node.nodeType === 1);

/** With faults that the reader can repair. @returns null for "" @throws ParseError */
export const parseLoosely = (xml: string): Element | null =>
  xml === "" ? null : new DOMParser({ onError: () => {} }).parseFromString(xml, "text/xml").documentElement;

export const all = (root: Element | null, name: string): Element[] =>
  root ? [...root.getElementsByTagNameNS("*", name)] : [];

/** The text of its runs, without phonetic runs. */
export const textOf = (root: Element): string =>
  all(root, "t")
    .filter((run) => (run.parentNode as Element | null)?.localName !== "rPh")
    .map((run) => run.textContent ?? "")
    .join("");
