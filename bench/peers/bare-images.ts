/**
 * The limits for stored files: node:http with a buffer (`/buffer`), a file as a stream (`/file`), and one picture resized by
 * sharp per request with the settings of ours (`/resize?w=…`). Usage: bare-images.ts PICTURE FILE
 */
import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import sharp from "sharp";

const [picture = "", file = ""] = process.argv.slice(2);
const source = readFileSync(picture);
const size = statSync(file).size;
const small = await resized(200);
sharp.concurrency(1);
sharp.cache(false);

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === "/file") {
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size });
    return createReadStream(file).pipe(response);
  }
  const bytes = pathname === "/resize" ? await resized(Number(searchParams.get("w"))) : small;
  response.writeHead(200, { "content-type": "image/webp", "content-length": bytes.length });
  response.end(bytes);
});
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});

function resized(width: number): Promise<Buffer> {
  return sharp(source).autoOrient().resize({ width }).webp({ effort: 2 }).toBuffer();
}
