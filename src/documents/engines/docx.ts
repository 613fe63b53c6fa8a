/**
 * The second parser for DOCX: mammoth makes HTML of its styles, and keeps notes.
 * Next hop: `html.ts`.
 */
import mammoth from "mammoth";
import { htmlToMarkdown } from "./html.ts";
import type { Converted } from "./run.ts";

export async function convertDocx(bytes: Buffer): Promise<Converted> {
  const { value } = await mammoth.convertToHtml(
    { buffer: bytes },
    { convertImage: mammoth.images.imgElement(async () => ({ src: "" })), externalFileAccess: false },
  );
  const hasImages = value.includes("<img");
  return { markdown: htmlToMarkdown(value), warnings: hasImages ? ["Images were left out."] : [] };
}
