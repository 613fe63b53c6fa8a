/**
 * `ocr`: runs tesseract on the pages of a PDF, if the machine has it. Pages are drawn in the sandbox, a few at a time.
 * Tesseract gets only images that we made, never the document.
 * Next hop: `src/documents/engines/pictures.ts`, `../ai/program.ts`.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { installedLanguages } from "../ai/local.ts";
import { inTurn, runProgram } from "../ai/program.ts";
import { EngineFailure } from "./sandbox.ts";
import { outlined } from "./sections.ts";
import type { EngineResult } from "./types.ts";

const mostPages = 200;
/** Drawn at a time, or fewer if they are large. */
const pagesAtOnce = 10;
/** In milliseconds, for one page. */
const longestPage = 60_000;

/** Whether tesseract is on the PATH. */
export function hasOcr(): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, "tesseract"), constants.X_OK);
      return folder !== "";
    } catch {
      return false;
    }
  });
}

/**
 * @param known the text of each page; only pages without text are recognised
 * @param draw the pages of these numbers, at least the first
 * @throws EngineFailure
 */
export async function recognise(
  known: string[],
  draw: (numbers: number[]) => Promise<EngineResult>,
  signal: AbortSignal | undefined,
): Promise<EngineResult> {
  try {
    const pages = [...known];
    const missing = pages.flatMap((text, at) => (text.trim() === "" ? [at] : [])).slice(0, mostPages);
    const how = missing.length > 0 ? await howToRead(signal) : [];
    let blank = 0;
    for (let first = 0; first < missing.length; ) {
      const wanted = missing.slice(first, first + pagesAtOnce);
      const drawn = await draw(wanted.map((at) => at + 1));
      for (const [position, picture] of drawn.pages.entries()) {
        if (picture === "") blank++;
        pages[wanted[position] as number] = await read(picture, how, signal);
      }
      first += drawn.pages.length;
    }
    const markdown = pages.filter(Boolean).join("\n\n");
    const warnings = ["The text of pages without their own was recognised from pictures."];
    if (blank > 0) warnings.push(`Of the pages, ${blank} could not be drawn, and have no text here.`);
    if (missing.length === mostPages) warnings.push(`Of the pages, ${mostPages} were recognised.`);
    return { ...outlined(markdown), pages, warnings, poor: markdown === "" ? "It found no text." : null, doubt: null };
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof EngineFailure) throw cause;
    throw new EngineFailure("It could not recognise the pages.", { cause });
  }
}

async function read(picture: string, how: string[], ended = new AbortController().signal): Promise<string> {
  if (picture === "") return "";
  const bytes = Buffer.from(picture, "base64");
  const args = ["stdin", "stdout", ...how];
  const recognised = () => runProgram("tesseract", args, bytes, pageSignal(ended));
  const text = (await inTurn("tesseract", { signal: ended }, recognised)).toString("utf8");
  // Blank lines separate paragraphs; none of its signs are Markdown.
  return text.replace(/[\\`*_[\]<#|]/g, "\\$&").trim();
}

const pageSignal = (ended?: AbortSignal) =>
  AbortSignal.any([AbortSignal.timeout(longestPage), ...(ended ? [ended] : [])]);

/** The languages, and whether tesseract finds out which side of a page is up. */
async function howToRead(ended?: AbortSignal): Promise<string[]> {
  const there = await installedLanguages(pageSignal(ended));
  const languages = ["eng", "kor", "jpn"].filter((language) => there.includes(language)).join("+") || "eng";
  return ["-l", languages, ...(there.includes("osd") ? ["--psm", "1"] : [])];
}
