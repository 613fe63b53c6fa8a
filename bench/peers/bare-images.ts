/**
 * The limits for stored files: node:http with a buffer (`/buffer`), a file as a stream (`/file`), and one picture resized by
 * sharp per request with the settings of ours (`/resize/small?w=…`). Usage: bare-images.ts FOLDER
 */
import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import sharp from "sharp";

sharp.concurrency(1);
sharp.cache(false);

const folder = process.argv[2] ?? "";
const file = join(folder, "file.bin");
const size = statSync(file).size;
const sources = { small: readFileSync(join(folder, "small.jpg")), large: readFileSync(join(folder, "large.jpg")) };

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === "/file") {
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size });
    return createReadStream(file).pipe(response);
  }
  const [, verb, name] = pathname.split("/");
  const bytes = verb === "resize" ? await resized(name as "small", Number(searchParams.get("w"))) : small;
  response.writeHead(200, { "content-type": "image/webp", "content-length": bytes.length });
  response.end(bytes);
});

/** Two at a time, as we do: more threads would get more of a machine that others use, too. */
let free = 2;
const waiting: (() => void)[] = [];

const small = await resized("large", 200);
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});

async function resized(name: keyof typeof sources, width: number): Promise<Buffer> {
  if (free > 0) free--;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  const picture = await resize(name, width);
  const next = waiting.shift();
  if (next) next();
  else free++;
  return picture;
}

function resize(name: keyof typeof sources, width: number): Promise<Buffer> {
  return sharp(sources[name]).autoOrient().resize({ width }).webp({ effort: 2 }).toBuffer();
}
