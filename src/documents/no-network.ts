/**
 * Takes the network away from this process. Imported before anything else by `child.ts`; Node's permission model guards
 * files and processes, and sockets only from Node 25 on.
 */
import dgram from "node:dgram";
import dns from "node:dns";
import { Socket } from "node:net";

const refuse = (): never => {
  throw new Error("A conversion has no network.");
};

Socket.prototype.connect = refuse;
dgram.createSocket = refuse;
dns.lookup = refuse as unknown as typeof dns.lookup;
globalThis.fetch = refuse;
