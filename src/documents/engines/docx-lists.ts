/**
 * Writes the labels of list items into the text of a DOCX, as Word shows them. Parsers number every item with 1, put
 * items of all levels on one, and miss lists that come from styles.
 * https://learn.microsoft.com/en-us/dotnet/api/documentformat.openxml.wordprocessing.numbering
 */
import type { Element } from "@xmldom/xmldom";
import { markItem } from "./docx-marks.ts";
import { childrenOf, parseLoosely } from "./xml-parts.ts";

interface Level {
  format: string;
  /** Such as "%1.%2." */
  text: string;
  start: number;
}
interface List {
  /** Lists of one kind continue each other's numbers. */
  kind: string;
  levels: Map<number, Level>;
  /** Levels that begin again in this list. */
  restarts: Map<number, number>;
}
interface Place {
  list: string;
  level: number;
}

/** @param read the text of a part of the package, or "" @returns the body with labels in front of its items */
export function markLists(body: string, read: (part: string) => string): string {
  const lists = readLists(read("word/numbering.xml"));
  if (lists.size === 0) return body;
  const styles = readStyles(read("word/styles.xml"));
  const counts = new Map<string, number[]>();
  const begun = new Set<string>();
  return body.replace(/<w:pPr>((?:(?!<\/w:pPr>)[\s\S])*)<\/w:pPr>/g, (all, properties: string) => {
    const style = styles.get(attribute(properties, "pStyle") ?? "");
    const own = attribute(properties, "numId");
    const place = own ? { list: own, level: Number(attribute(properties, "ilvl") ?? 0) } : style?.place;
    const list = place && lists.get(place.list);
    const level = list?.levels.get(place?.level ?? 0);
    if (!list || !place || !level || style?.isHeading || level.format === "none") return all;
    const label = level.format === "bullet" ? "" : nextLabel(list, place, counts, begun);
    const numbered = own
      ? properties
      : `${properties}<w:numPr><w:ilvl w:val="${place.level}"/><w:numId w:val="${place.list}"/></w:numPr>`;
    const mark = markItem(place.level, label.replaceAll("&", "&amp;").replaceAll("<", "&lt;"));
    return `<w:pPr>${numbered}</w:pPr><w:r><w:t xml:space="preserve">${mark}</w:t></w:r>`;
  });
}

const attribute = (xml: string, name: string) => new RegExp(`<w:${name}\\s+w:val="([^"]*)"`).exec(xml)?.[1];

function nextLabel(list: List, { list: id, level }: Place, counts: Map<string, number[]>, begun: Set<string>): string {
  const numbers = counts.get(list.kind) ?? [];
  counts.set(list.kind, numbers);
  const isFirst = !begun.has(`${id} ${level}`);
  begun.add(`${id} ${level}`);
  const restart = isFirst ? list.restarts.get(level) : undefined;
  const last = numbers[level];
  numbers[level] = restart ?? (last === undefined ? (list.levels.get(level)?.start ?? 1) : last + 1);
  numbers.length = level + 1;
  return (list.levels.get(level)?.text ?? "").replace(/%(\d)/g, (_, digit: string) => {
    const at = Number(digit) - 1;
    const above = list.levels.get(at);
    return written(numbers[at] ?? above?.start ?? 1, above?.format ?? "decimal");
  });
}

function written(number: number, format: string): string {
  if (format === "lowerLetter") return letters(number);
  if (format === "upperLetter") return letters(number).toUpperCase();
  if (format === "lowerRoman") return roman(number).toLowerCase();
  if (format === "upperRoman") return roman(number);
  return format === "decimalZero" && number < 10 ? `0${number}` : String(number);
}

/** a to z, then aa to zz. Damaged lists begin below 1. */
const letters = (number: number) =>
  number < 1
    ? String(number)
    : String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.min(Math.ceil(number / 26), 9));

const numerals: [number, string][] = [
  [1000, "M"],
  [900, "CM"],
  [500, "D"],
  [400, "CD"],
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];

function roman(number: number): string {
  if (number > 5_000) return String(number);
  const [value, sign] = numerals.find(([value]) => value <= number) ?? [];
  return value && sign ? sign + roman(number - value) : "";
}

const children = (node: Element | null | undefined, name: string) =>
  childrenOf(node).filter(({ localName }) => localName === name);
const value = (node: Element | undefined, name: string) => children(node, name)[0]?.getAttribute("w:val") ?? undefined;

function readLists(xml: string): Map<string, List> {
  const root = parseLoosely(xml);
  const kinds = new Map(
    children(root, "abstractNum").map((kind) => {
      const levels = children(kind, "lvl").map((level): [number, Level] => [
        Number(level.getAttribute("w:ilvl")),
        {
          format: value(level, "numFmt") ?? "decimal",
          text: value(level, "lvlText") ?? "",
          start: Number(value(level, "start") ?? 1),
        },
      ]);
      return [kind.getAttribute("w:abstractNumId") ?? "", new Map(levels)] as const;
    }),
  );
  return new Map(
    children(root, "num").map((list): [string, List] => {
      const kind = value(list, "abstractNumId") ?? "";
      const restarts = children(list, "lvlOverride").flatMap((change): [number, number][] => {
        const start = value(change, "startOverride");
        return start === undefined ? [] : [[Number(change.getAttribute("w:ilvl")), Number(start)]];
      });
      return [
        list.getAttribute("w:numId") ?? "",
        { kind, levels: kinds.get(kind) ?? new Map(), restarts: new Map(restarts) },
      ];
    }),
  );
}

interface Style {
  isHeading: boolean;
  place: Place | undefined;
}

/** Deeper inheritance is a circle. */
const deepest = 20;

function readStyles(xml: string): Map<string, Style> {
  const found = new Map(
    children(parseLoosely(xml), "style").map((style) => [style.getAttribute("w:styleId") ?? "", style]),
  );
  const read = (style: Element | undefined, depth = 0): Style => {
    const properties = children(style, "pPr")[0];
    const numbers = children(properties, "numPr")[0];
    const list = value(numbers, "numId");
    const base = value(style, "basedOn");
    const above = base && depth < deepest ? read(found.get(base), depth + 1) : { isHeading: false, place: undefined };
    const isHeading = value(properties, "outlineLvl") !== undefined || /^heading \d/i.test(value(style, "name") ?? "");
    const level = Number(value(numbers, "ilvl") ?? 0);
    return { isHeading: isHeading || above.isHeading, place: list === undefined ? above.place : { list, level } };
  };
  return new Map([...found].map(([id, style]) => [id, read(style)]));
}
