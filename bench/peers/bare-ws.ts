/** The least that a fan-out can be: `ws`, and a loop over all clients for every POST. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

const server = createServer((request, response) => {
  let frame = "";
  request.on("data", (data) => {
    frame += data;
  });
  request.on("end", () => {
    for (const client of sockets.clients) client.send(frame);
    response.end();
  });
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
server.listen(0, () => console.info(`Ready: http://localhost:${(server.address() as AddressInfo).port}`));
process.on("SIGTERM", () => process.exit(0));
