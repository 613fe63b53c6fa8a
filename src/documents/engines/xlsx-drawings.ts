/** Reads what lies on a sheet beside its cells: charts as tables of their points, and the text of shapes. */
import type { Element } from "@xmldom/xmldom";
import { literal, pipeTable } from "./html-tables.ts";
import { all, childrenOf, parsePart, relationsOf, textOf } from "./xml-parts.ts";

export interface Drawing {
  /** Where its upper left corner is, from 0. */
  row: number;
  column: number;
  markdown: string;
}

/** @param sheet the name of its part */
export function readDrawings(bytes: Buffer, sheet: string): Drawing[] {
  const path = relationsOf(bytes, sheet).find((link) => link.type === "drawing")?.path;
  if (path === undefined) return [];
  const links = relationsOf(bytes, path);
  const anchors = ["twoCellAnchor", "oneCellAnchor", "absoluteAnchor"];
  return anchors
    .flatMap((name) => all(parsePart(bytes, path), name))
    .flatMap((anchor) => {
      const place = { row: numberIn(anchor, "row"), column: numberIn(anchor, "col") };
      const charts = all(anchor, "chart").flatMap((chart) => {
        const part = links.find((link) => link.id === chart.getAttribute("r:id"))?.path;
        return writeChart(parsePart(bytes, part ?? ""));
      });
      const texts = all(anchor, "txBody").map((body) => all(body, "p").map(textOf).map(literal).join("\n"));
      return [...charts, ...texts].filter((text) => text.trim() !== "").map((markdown) => ({ ...place, markdown }));
    });
}

const numberIn = (anchor: Element, name: string) => Number(all(anchor, name)[0]?.textContent ?? 0) || 0;

/** Its title, its kind, the titles of its axes, and the values that it shows. */
function writeChart(root: Element | null): string[] {
  const plot = all(root, "plotArea")[0];
  if (!root || !plot) return [];
  const kinds = childrenOf(plot).filter((child) => /Chart$/.test(child.localName ?? ""));
  const named = [...new Set(kinds.map((kind) => (kind.localName ?? "").replace(/(3D)?Chart$/, "").toLowerCase()))];
  const titleOf = (parent: Element) => {
    const title = childrenOf(parent).find((child) => child.localName === "title");
    return title ? literal(textOf(title).trim()) : "";
  };
  const axes = childrenOf(plot)
    .filter((child) => /Ax$/.test(child.localName ?? ""))
    .map(titleOf);
  const title = titleOf(plot.parentNode as Element);
  const about = [`${named.join(" and ")} chart`.trim(), ...axes].filter(Boolean).join(", ");
  return [[title && `**${title}**`, `(${about})`].filter(Boolean).join(" "), ...tablesOf(all(plot, "ser"))];
}

interface Series {
  name: string;
  /** By their number. */
  categories: Map<number, string>;
  values: Map<number, string>;
}

/** Series over the same categories share a table. */
function tablesOf(elements: Element[]): string[] {
  const shared = new Map<string, Series[]>();
  for (const element of elements) {
    const series = readSeries(element);
    const key = JSON.stringify([...series.categories]);
    shared.set(key, [...(shared.get(key) ?? []), series]);
  }
  return [...shared.values()].map((group) => {
    const { categories } = group[0] as Series;
    const points = [...new Set(group.flatMap(({ values }) => [...values.keys()]).concat([...categories.keys()]))];
    points.sort((one, other) => one - other);
    return pipeTable([
      ["", ...group.map(({ name }) => name)],
      ...points.map((at) => [categories.get(at) ?? "", ...group.map(({ values }) => values.get(at) ?? "")]),
    ]);
  });
}

function readSeries(element: Element): Series {
  const pointsIn = (...names: string[]) => {
    const holder = childrenOf(element).find((child) => names.includes(child.localName ?? ""));
    const points = holder ? all(holder, "pt") : [];
    return new Map(points.map((point) => [Number(point.getAttribute("idx")), pointValue(point)]));
  };
  const [name = ""] = pointsIn("tx").values();
  return { name, categories: pointsIn("cat", "xVal"), values: pointsIn("val", "yVal") };
}

/** Numbers without binary rounding noise. */
function pointValue(point: Element): string {
  const text = (all(point, "v")[0]?.textContent ?? "").trim();
  return text !== "" && Number.isFinite(Number(text)) ? String(Number(Number(text).toPrecision(15))) : literal(text);
}
