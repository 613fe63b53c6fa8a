/**
 * Loads what most documents need, and runs it once on a page of our own. Only in a spare process
 * (`prewarmed-process.ts`).
 */
import { runEngine } from "./engines/run.ts";

const page = `%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>> endobj
4 0 obj <</Type/Font/Subtype/Type1/BaseFont/Times-Roman>> endobj
5 0 obj <</Length 35>> stream
BT /F 9 Tf 9 50 Td (warm up) Tj ET
endstream endobj
trailer <</Root 1 0 R>>
`;

export async function warmUp(): Promise<void> {
  await runEngine({ engine: "parser_a", kind: "pdf" }, Buffer.from(page, "latin1")).catch(() => {});
}
