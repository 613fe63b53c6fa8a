/**
 * `ocr`: runs tesseract on the pages of a PDF, if the machine has it. Pages are drawn in the sandbox, a few at a time.
 * Tesseract gets only images that we made, never the document.
 * Next hop: `src/documents/engines/pictures.ts`, `../ai/program.ts`.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { runProgram } from "../ai/program.ts";
import { EngineFailure, runSandboxed, type SandboxLimits, startChild } from "./sandbox.ts";
import { outlined } from "./sections.ts";
import type { EngineResult } from "./types.ts";

const mostPages = 200;
/** Drawn by one process, one after the other. */
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
 * @throws EngineFailure
 */
export async function recognise(bytes: Buffer, known: string[], limits: SandboxLimits = {}): Promise<EngineResult> {
  try {
    const pages = [...known];
    const missing = pages.flatMap((text, at) => (text.trim() === "" ? [at] : [])).slice(0, mostPages);
    const languages = missing.length > 0 ? await installedLanguages(limits.signal) : "";
    for (let first = 0; first < pages.length; first += pagesAtOnce) {
      const wanted = missing.filter((at) => at >= first && at < first + pagesAtOnce);
      if (wanted.length === 0) continue;
      const range = [first + 1, first + pagesAtOnce] as const;
      const task = { engine: "pictures", kind: "pdf", range } as const;
      const drawn = await runSandboxed(task, bytes, limits, startChild(limits, "addons"));
      for (const at of wanted) pages[at] = await read(drawn.pages[at - first] ?? "", languages, limits.signal);
    }
    const markdown = pages.filter(Boolean).join("\n\n");
    const warnings = ["The text of pages without their own was recognised from pictures."];
    if (missing.length === mostPages) warnings.push(`Of the pages, ${mostPages} were recognised.`);
    return { ...outlined(markdown), pages, warnings, poor: markdown === "" ? "It found no text." : null, doubt: null };
  } catch (cause) {
    limits.signal?.throwIfAborted();
    if (cause instanceof EngineFailure) throw cause;
    throw new EngineFailure("It could not recognise the pages.", { cause });
  }
}

async function read(picture: string, languages: string, ended?: AbortSignal): Promise<string> {
  if (picture === "") return "";
  const bytes = Buffer.from(picture, "base64");
  const args = ["stdin", "stdout", "-l", languages];
  const text = (await runProgram("tesseract", args, bytes, pageSignal(ended))).toString("utf8");
  // Blank lines separate paragraphs; none of its signs are Markdown.
  return text.replace(/[\\`*_[\]<#|]/g, "\\$&").trim();
}

const pageSignal = (ended?: AbortSignal) =>
  AbortSignal.any([AbortSignal.timeout(longestPage), ...(ended ? [ended] : [])]);

async function installedLanguages(ended?: AbortSignal): Promise<string> {
  const printed = await runProgram("tesseract", ["--list-langs"], null, pageSignal(ended));
  const there = printed.toString("utf8").split("\n");
  return ["eng", "kor", "jpn"].filter((language) => there.includes(language)).join("+") || "eng";
}
