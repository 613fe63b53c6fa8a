/** The limit for channels: a `ws` server that gives each message to all other sockets, in one process and without any check. */
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on("connection", (socket) => {
  socket.on("message", (data) => {
    const text = String(data);
    for (const other of sockets.clients) if (other !== socket) other.send(text);
  });
});
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
