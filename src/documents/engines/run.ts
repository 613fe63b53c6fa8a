/**
 * Maps provider and kind to an engine, which is loaded on demand.
 * Next hop: the engine's file; `src/text/neutralise.ts` cleans what every one of them returns.
 */
import type { DocumentKind } from "../../contract/documents.ts";
import { neutralise } from "../../text/neutralise.ts";
import { unreadable } from "../../text/refusals.ts";
import { outlined } from "../sections.ts";
import type { Converted, EngineResult, Task } from "../types.ts";
import { resolveMarks } from "./docx-marks.ts";
import { leftOut, told } from "./left-out.ts";
import { refuseManyMerges, scanPackage } from "./package.ts";

type Engine = (bytes: Buffer, kind: DocumentKind) => Promise<Converted>;

const parserB: Partial<Record<DocumentKind, () => Promise<Engine>>> = {
  pdf: () => import("./kordoc-pdf.ts").then((file) => file.convertPdfWithKordoc),
  docx: () => import("./docx.ts").then((file) => file.convertDocx),
  xlsx: () => import("./xlsx.ts").then((file) => file.convertXlsx),
};

async function load({ engine, kind }: Task): Promise<Engine> {
  if (engine === "local_text") return (await import("./text.ts")).convertText;
  if (engine === "parser_a" && kind === "pdf") return (await import("./pdf.ts")).convertPdf;
  if (engine === "parser_a") return (await import("./kordoc.ts")).convertWithKordoc;
  if (engine === "clean") return async (bytes) => ({ markdown: bytes.toString("utf8") });
  const second = parserB[kind];
  if (!second) throw new Error(`No second parser for ${kind}.`);
  return second();
}

export async function runEngine(task: Task, bytes: Buffer): Promise<EngineResult> {
  if (task.engine !== "clean") {
    if (["docx", "xlsx", "hwpx"].includes(task.kind)) scanPackage(bytes);
    if (task.kind === "xlsx") refuseManyMerges(bytes);
    if (task.kind === "hwpml" && /<!(DOCTYPE|ENTITY)/i.test(bytes.toString("latin1").replaceAll("\0", ""))) {
      throw unreadable("The XML declares entities.");
    }
  }
  if (task.engine === "pictures") return drawn(bytes, task.numbers);
  const engine = await load(task);
  const source = await prepared(bytes, task.kind);
  const { markdown: marked, pages = [], warnings = [], poor = null, doubt = null } = await engine(source, task.kind);
  const markdown = task.kind === "docx" ? resolveMarks(marked) : marked;
  return {
    // Here and not in the process that answers requests, because long texts take time.
    ...outlined(harmless(markdown)),
    pages: pages.map(harmless),
    warnings: [...warnings, ...told(leftOut(source, task.kind, markdown)).filter((one) => !warnings.includes(one))],
    poor: poor ?? poorText(markdown),
    doubt,
  };
}

/**
 * Without NUL and halves of surrogate pairs too, which some files hold, and PostgreSQL cannot store; and without soft
 * hyphens, which are not shown within a line and would cut words for a search.
 */
const harmless = (markdown: string) =>
  neutralise(markdown)
    .replaceAll(/[\0\u00ad]/g, "")
    .toWellFormed();

async function prepared(bytes: Buffer, kind: DocumentKind): Promise<Buffer> {
  if (kind === "docx") return (await import("./docx-source.ts")).prepareDocx(bytes);
  if (kind === "xlsx") return (await import("./xlsx-source.ts")).prepareXlsx(bytes);
  return bytes;
}

/** The result for drawn pages: images in place of their text. */
async function drawn(bytes: Buffer, numbers: Task["numbers"] = []): Promise<EngineResult> {
  const { drawPages } = await import("./pictures.ts");
  return { ...outlined(""), pages: await drawPages(bytes, numbers), warnings: [], poor: null, doubt: null };
}

/** Detects unreadable text: signs of fonts without a map, control characters, or no text at all. */
function poorText(markdown: string): string | null {
  const text = markdown.replace(/\s/g, "");
  if (text === "") return "It found no text.";
  const odd = text.match(/[\p{Cc}\p{Co}\ufffd]/gu)?.length ?? 0;
  return odd > text.length / 20 ? "Its text is not readable." : null;
}
