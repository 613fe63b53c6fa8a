/**
 * Makes rows of the runs of a page, by where they are and not by when they were drawn. Text from right to left is put in
 * the order in which it is read.
 * Next hop: `pdf-order.ts` decides in which order rows are read.
 */
import type { Run } from "./pdf-signs.ts";

/** A part of a row, between wide gaps. Height and font are those of most of its letters. */
export interface Segment extends Omit<Run, "isSpaced"> {
  /** From left to right. */
  runs: Run[];
}

/** Between segments, in heights of letters. */
export const wideGap = 0.8;

/** Segments beside each other, in the order in which they are read. */
export type Row = Segment[];

/** Signs of scripts from right to left, without the figures of Arabic and Persian, which are read from the left. */
const backwardSign = String.raw`[\u0590-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]`;
export const rightToLeft = new RegExp(backwardSign, "u");
const everyRightToLeft = new RegExp(backwardSign, "gu");
/** Signs that begin items, for a character class. Those of Symbol, Wingdings and OpenSymbol have codes of their own. */
export const bullets = "•‣▪◦●○■□\uf0b7\uf0a7\uf0d8\uf076\uf095";
const bullet = new RegExp(String.raw`^(?:[${bullets}–—*-]|\(?(?:\d{1,3}|[a-z])[.)])$`);

/** From top to bottom. */
export function rowsOf(runs: Run[]): Row[] {
  const sorted = [...runs].sort((one, other) => one.y - other.y || one.x - other.x);
  const rows: Run[][] = [];
  let main: Run | undefined;
  for (const run of sorted) {
    const row = rows.at(-1);
    const isApart = !row || !main || !isBeside(main, run);
    if (isApart) rows.push([run]);
    else if (!row.some((one) => isShadow(one, run))) row.push(run);
    // Lowered signs stand beside the largest of a row, which is not the first one if others are raised.
    if (isApart || run.height > (main as Run).height) main = run;
  }
  const texts = rows.map((row) => row.map(({ text }) => text).join(""));
  const leanings = texts.map(leaning);
  const isPageBackward = leanings.reduce((sum, one) => sum + one, 0) < 0;
  return rows.map((row, at) => {
    const isMixed = isPageBackward && rightToLeft.test(texts[at] as string);
    return cutRow(row, isMixed || (leanings[at] as number) < 0);
  });
}

/** Raised and lowered signs stand beside larger ones. */
function isBeside(first: Run, run: Run): boolean {
  const [small, large] = [Math.min(first.height, run.height), Math.max(first.height, run.height)];
  return run.y - first.y < (small < 0.8 * large && small > 0.4 * large ? 0.5 * large : 0.6 * small);
}

/** Bold text is sometimes drawn twice. */
const isShadow = (one: Run, other: Run) =>
  one.text === other.text &&
  Math.abs(one.x - other.x) < 0.2 * one.height &&
  Math.abs(one.y - other.y) < 0.2 * one.height;

function cutRow(runs: Run[], isBackward: boolean): Row {
  runs.sort((one, other) => one.x - other.x);
  const parts: Run[][] = [];
  let right = Number.NEGATIVE_INFINITY;
  for (const run of runs) {
    const part = parts.at(-1);
    const isNear = run.x - right < wideGap * Math.max(run.height, part?.at(-1)?.height ?? 0);
    if (part && (isNear || (part.length === 1 && bullet.test((part[0] as Run).text.trim())))) part.push(run);
    else parts.push([run]);
    right = Math.max(right, run.right);
  }
  const row = parts.map((part) => joinRuns(part, isBackward));
  return isBackward ? row.reverse() : row;
}

/** Letters from left to right minus those from right to left. */
export const leaning = (text: string) =>
  (text.match(/\p{L}/gu)?.length ?? 0) - 2 * (text.match(everyRightToLeft)?.length ?? 0);

/** @param runs from left to right */
export function joinRuns(runs: Run[], isBackward: boolean): Segment {
  const [first] = runs as [Run];
  // Neither a raised figure, nor an initial.
  const weight = ({ text, height }: Run) => Math.min(text.length, 3) * 1000 * height + text.length;
  const main = runs.reduce((most, run) => (weight(run) > weight(most) ? run : most));
  let text = "";
  let last: Run | undefined;
  for (const run of isBackward ? backward(runs) : runs) {
    const gap = last ? Math.max(run.x - last.right, last.x - run.right) : 0;
    const isApart = gap > 0.15 * main.height || (run.isSpaced && !isBackward);
    if (last && isApart && !/\s$/.test(text) && !/^\s/.test(run.text)) text += " ";
    text += run.text;
    last = run;
  }
  const right = runs.reduce((most, run) => Math.max(most, run.right), first.right);
  // A ligature of lam and alef is one sign, which pdf.js turns around with the others.
  if (isBackward) text = text.replace(/\u0627([\u0622\u0623\u0625])\u0644/g, "\u0627\u0644$1");
  return { text: text.trim(), x: first.x, right, y: main.y, height: main.height, font: main.font, runs };
}

/** From the right; within it, figures and words of other scripts stay from left to right. */
function backward(runs: Run[]): Run[] {
  const ordered: Run[] = [];
  let forward: Run[] = [];
  const flush = () => {
    ordered.push(...forward);
    forward = [];
  };
  for (const run of [...runs].reverse()) {
    if (leaning(run.text) < 0 || !/[\p{L}\p{N}]/u.test(run.text)) {
      flush();
      ordered.push(run);
    } else forward.unshift(run);
  }
  flush();
  return ordered;
}
