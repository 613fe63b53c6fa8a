// If this file fails, a small PDF with very many pages keeps a process busy until its time is over.
import { expect, test } from "vitest";
import { convertDocument } from "../../src/documents/convert.ts";

test("a PDF with more than 20,000 pages is refused, with the limit in the message", async () => {
  const count = 20_001;
  const kids = Array.from({ length: count }, (_, at) => `${3 + at} 0 R`).join(" ");
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>", `<< /Type /Pages /Count ${count} /Kids [${kids}] >>`];
  for (let at = 0; at < count; at++) objects.push("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>");
  const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join("");
  const bytes = Buffer.from(`%PDF-1.4\n${body}trailer << /Root 1 0 R >>\n%%EOF\n`, "latin1");
  await expect(convertDocument(bytes)).rejects.toMatchObject({
    code: "PAYLOAD_TOO_LARGE",
    message: expect.stringContaining("At most 20000"),
  });
});
