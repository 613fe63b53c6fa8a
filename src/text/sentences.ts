/**
 * Splits text into sentences by Unicode's rules, and corrects splits at abbreviations and initials, which those rules
 * do not know.
 * Next hop: `cut-document.ts`.
 */

/** A range of a text, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

/** Made on first use, which takes 10 ms. */
let segmenter: Intl.Segmenter | undefined;

// Abbreviations whose full stop does not end a sentence: units and titles, but no words that often end a sentence.
const abbreviation =
  /(?:^|[\s(])(?:e\.g|i\.e|cf|vs|al|approx|ca|dr|mr|mrs|ms|prof|st|fig|figs|eq|no|nos|vol|pp|p|\p{Lu})\.\s*$/iu;

// A longer sentence is a table or a log; it is split at white space.
const longest = 1_000;

/** The sentences of a text, without surrounding white space. Never empty. */
export function sentences(text: string): Span[] {
  const spans: Span[] = [];
  let start = 0;
  segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" });
  for (const { index, segment } of segmenter.segment(text)) {
    const end = index + segment.length;
    const isBreak = /\n\s*\n?$/.test(segment);
    if (end < text.length && !isBreak && abbreviation.test(segment)) continue;
    spans.push(...cut(text, trim(text, { start, end })));
    start = end;
  }
  if (start < text.length) spans.push(...cut(text, trim(text, { start, end: text.length })));
  return spans;
}

/** Splits long sentences at white space, or inside a word if there is none. */
function* cut(text: string, span: Span): Generator<Span> {
  let { start } = span;
  while (span.end - start > longest) {
    const space = text.lastIndexOf(" ", start + longest);
    let end = space > start ? space : start + longest;
    if (isLowSurrogate(text.charCodeAt(end))) end -= 1;
    yield trim(text, { start, end });
    start = end;
  }
  const rest = trim(text, { start, end: span.end });
  if (rest.end > rest.start) yield rest;
}

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

function trim(text: string, { start, end }: Span): Span {
  while (start < end && /\s/.test(text[start] as string)) start += 1;
  while (end > start && /\s/.test(text[end - 1] as string)) end -= 1;
  return { start, end };
}
