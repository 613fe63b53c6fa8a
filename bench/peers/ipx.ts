/** ipx, the image server of the Nuxt project, as its package comes, over a folder. Usage: ipx.ts FOLDER */
import { createServer } from "node:http";
import { createIPX, createIPXNodeServer, ipxFSStorage } from "ipx";

const ipx = createIPX({ storage: ipxFSStorage({ dir: process.argv[2] }) });
const server = createServer(createIPXNodeServer(ipx));
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
