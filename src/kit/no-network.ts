/**
 * Takes the network and other processes away from this one. Imported before anything else by
 * `src/documents/child.ts` and `src/storage/image-child.ts`; Node's permission model guards files and the start of processes, sockets only from Node 25 on,
 * and signals not at all.
 */
import dgram from "node:dgram";
import dns from "node:dns";
import dnsPromises from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import os from "node:os";

/** Puts a refusal in the place of each of these functions. */
function refuse(what: string, holder: object, names: readonly string[]): void {
  // Classes are among them: no arrow, which `new` would not call.
  function refusal(): never {
    throw new Error(what);
  }
  // `configurable: false`: what is refused stays refused.
  for (const name of names)
    Object.defineProperty(holder, name, { value: refusal, configurable: false, writable: false });
}

/** Every function of an object, those that a later version of Node adds included. */
const functionsOf = (holder: object) =>
  Reflect.ownKeys(holder).filter(
    (name): name is string =>
      typeof name === "string" && name !== "constructor" && typeof Object(holder)[name] === "function",
  );

/** A class's prototype and those that it inherits from. */
function prototypesOf({ prototype }: { prototype: object }): object[] {
  const inherited = Object.getPrototypeOf(prototype);
  return inherited === Object.prototype ? [prototype] : [prototype, ...prototypesOf({ prototype: inherited })];
}

const noNetwork = "A conversion has no network.";
refuse(noNetwork, net.Socket.prototype, ["connect"]);
refuse(noNetwork, net.Server.prototype, ["listen"]);
refuse(noNetwork, dgram, ["createSocket"]);
refuse(noNetwork, dgram.Socket.prototype, ["bind", "connect", "send"]);
for (const each of new Set([dns.Resolver, dnsPromises.Resolver].flatMap((resolver) => prototypesOf(resolver)))) {
  refuse(noNetwork, each, functionsOf(each));
}
refuse(noNetwork, dns, functionsOf(dns));
refuse(noNetwork, dnsPromises, functionsOf(dnsPromises));
refuse(noNetwork, globalThis, ["fetch", "WebSocket", "EventSource"]);

const noProcesses = "A conversion has no other processes.";
// The underscored ones are those that Node keeps for itself, and for its debugger.
refuse(noProcesses, process, ["kill", "_kill", "_debugProcess", "_debugEnd", "binding", "_linkedBinding"]);
refuse(noProcesses, os, ["setPriority"]);

// `import { lookup } from "node:dns"` gets these as well.
syncBuiltinESMExports();
