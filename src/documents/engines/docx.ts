/** The second parser for DOCX: mammoth converts its styles to HTML and keeps notes. Next hop: `html.ts`. */
import mammoth from "mammoth";
import type { Converted } from "../types.ts";
import { htmlToMarkdown } from "./html.ts";

export async function convertDocx(bytes: Buffer): Promise<Converted> {
  const { value } = await mammoth.convertToHtml(
    { buffer: bytes },
    { convertImage: mammoth.images.imgElement(async () => ({ src: "" })), externalFileAccess: false },
  );
  const hasImages = value.includes("<img");
  return { markdown: htmlToMarkdown(value), warnings: hasImages ? ["Images were left out."] : [] };
}
