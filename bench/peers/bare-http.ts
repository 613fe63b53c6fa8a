/** The limit for a call without database: node:http, JSON in, JSON out, nothing else. */
import { createServer } from "node:http";

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { args } = JSON.parse(Buffer.concat(chunks).toString());
    const body = JSON.stringify({ json: args.text });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
});
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
