/**
 * Opens a PDF with PDFium, compiled to WebAssembly. Every document has an instance of its own: memory that PDFium
 * corrupts while it reads a document ends with that document, and code in it reaches nothing outside.
 * Next hop: `pdf-text.ts` reads the text of pages, `pictures.ts` draws them.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { init, type WrappedPdfiumModule } from "@embedpdf/pdfium";
import { SvcError } from "../../kit/svc-error.ts";
import { encrypted } from "../../text/refusals.ts";

/** Functions of PDFium. Pointers and handles are addresses in its memory, and a boolean is 0 or 1. */
type Pdfium = {
  readonly [name in Exclude<keyof WrappedPdfiumModule, "pdfium"> | "malloc" | "free"]: (...values: number[]) => number;
};

/** Views of the memory of an instance. They are others after it grew. */
interface Memory {
  readonly HEAPU8: Uint8Array;
  readonly HEAPF32: Float32Array;
  readonly HEAPF64: Float64Array;
}

export interface OpenPdf {
  pdfium: Pdfium;
  memory: Memory;
  document: number;
  /** Its fields to fill in. */
  form: number;
  pages: number;
}

/** Maps coordinates of a page's content to those of the shown page: a, b, c, d, e, f. */
export type Matrix = readonly [number, number, number, number, number, number];

/** More take longer than a conversion may. */
const mostPages = 20_000;
/** Of FPDF_GetLastError: it needs a password, or is locked by a certificate or another program. */
const locked = [4, 5];

let compiled: Promise<WebAssembly.Module> | undefined;
const compile = async () => {
  const path = createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm");
  return WebAssembly.compile(await readFile(path));
};

const notSupported = 52;
/** PDFium needs no files: whatever its C library asks of a file system is refused, even of one in memory. */
function withoutFiles(imports: WebAssembly.Imports): WebAssembly.Imports {
  const refused = Object.entries(imports).map(([module, functions]) => {
    const isOfFiles = (name: string) => /^(__syscall|fd)_/.test(name);
    const answer = (name: string) => (name.startsWith("fd_") ? notSupported : -notSupported);
    const all = Object.entries(functions).map(([name, one]) => [name, isOfFiles(name) ? () => answer(name) : one]);
    return [module, Object.fromEntries(all)];
  });
  return Object.fromEntries(refused);
}

/**
 * The instance is freed when nothing refers to it.
 *
 * @throws SvcError DOCUMENT_ENCRYPTED for a locked one, PAYLOAD_TOO_LARGE for more pages than are converted here
 */
export async function openPdf(bytes: Buffer): Promise<OpenPdf> {
  compiled ??= compile();
  const module = await compiled;
  const instance = await init({
    instantiateWasm(imports: WebAssembly.Imports, succeed: (instance: WebAssembly.Instance) => void) {
      const made = new WebAssembly.Instance(module, withoutFiles(imports));
      succeed(made);
      return made.exports;
    },
  } as Parameters<typeof init>[0]);
  const memory = instance.pdfium as unknown as Memory;
  // Without the package's wrappers, which take longer than most functions.
  const pdfium = instance.pdfium.wasmExports as unknown as Pdfium;
  pdfium.PDFiumExt_Init();
  // Kept as long as the document, which is as long as the instance.
  const file = pdfium.malloc(bytes.length);
  if (file === 0) throw new Error("PDFium has no memory left.");
  memory.HEAPU8.set(bytes, file);
  const document = pdfium.FPDF_LoadMemDocument(file, bytes.length, 0);
  if (document === 0) {
    const error = pdfium.FPDF_GetLastError();
    throw locked.includes(error) ? encrypted() : new Error(`PDFium cannot open it: error ${error}.`);
  }
  const pages = pdfium.FPDF_GetPageCount(document);
  if (pages > mostPages) {
    const many = `The document has ${pages} pages. At most ${mostPages} are converted.`;
    throw new SvcError("PAYLOAD_TOO_LARGE", many, { hint: "Split the document." });
  }
  const form = pdfium.PDFiumExt_InitFormFillEnvironment(document, pdfium.PDFiumExt_OpenFormFillInfo());
  return { pdfium, memory, document, form, pages };
}

/** Gives `use` the address of so many bytes, which are freed afterwards. */
export function scratch<T>({ pdfium }: OpenPdf, bytes: number, use: (place: number) => T): T {
  const place = pdfium.malloc(bytes);
  try {
    return use(place);
  } finally {
    pdfium.free(place);
  }
}

/** The floats at an address. */
export const floatsAt = ({ memory }: OpenPdf, place: number, count: number) =>
  memory.HEAPF32.subarray(place / 4, place / 4 + count);

/** @param ask writes UTF-16 with a zero at its end, of at most `room` bytes, and returns how many it needs */
export function readText(pdf: OpenPdf, ask: (place: number, room: number) => number): string {
  const length = ask(0, 0);
  if (length <= 2) return "";
  return scratch(pdf, length, (place) => {
    ask(place, length);
    return Buffer.from(pdf.memory.HEAPU8.subarray(place, place + length - 2)).toString("utf16le");
  });
}

export function multiply(one: Matrix, other: Matrix): Matrix {
  const [a, b, c, d, e, f] = one;
  const [g, h, i, j, k, l] = other;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

export const moved = ([a, b, c, d, e, f]: Matrix, x: number, y: number) => ({
  x: a * x + c * y + e,
  y: b * x + d * y + f,
});
