/**
 * `ocr`: tesseract over the rendered pages of a PDF, where the machine has it and poppler. Both are programs of their own,
 * with a folder that is removed afterwards and limits on time.
 */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { EngineFailure } from "./sandbox.ts";
import { outlined } from "./sections.ts";
import type { EngineResult } from "./types.ts";

const run = promisify(execFile);
const mostPages = 200;

/** Whether tesseract and pdftoppm are on the PATH. */
export const hasOcr = () => ["tesseract", "pdftoppm"].every(isInstalled);

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== "";
    } catch {
      return false;
    }
  });
}

/** @throws EngineFailure */
export async function recognise(bytes: Buffer): Promise<EngineResult> {
  const folder = await mkdtemp(join(tmpdir(), "svc-ocr-"));
  const limits = { cwd: folder, timeout: 120_000, maxBuffer: 16 * 1024 * 1024, env: { PATH: process.env.PATH } };
  try {
    await writeFile(join(folder, "in.pdf"), bytes);
    await run("pdftoppm", ["-r", "200", "-gray", "-l", String(mostPages), "in.pdf", "page"], limits);
    const { stdout } = await run("tesseract", ["--list-langs"], limits);
    const languages = ["eng", "kor", "jpn"].filter((language) => stdout.split("\n").includes(language));
    const pages: string[] = [];
    for (const name of (await readdir(folder)).filter((file) => file.startsWith("page")).sort()) {
      const page = await run("tesseract", [name, "-", "-l", languages.join("+") || "eng"], limits);
      pages.push(page.stdout.replace(/[\\`*_[\]<#|]/g, "\\$&").trim());
    }
    const markdown = pages.filter(Boolean).join("\n\n");
    const warnings = ["The text was recognised from pictures."];
    return { ...outlined(markdown), pages, warnings, poor: markdown === "" ? "It found no text." : null };
  } catch (cause) {
    throw new EngineFailure("It could not recognise the pages.", { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
