/**
 * Disables the network and access to other processes. `src/documents/engines/child.ts` and `src/storage/image-child.ts` import it
 * first. Node's permission model covers files and the start of processes, sockets only from Node 25 on, and signals not at all.
 */
import dgram from "node:dgram";
import dns from "node:dns";
import dnsPromises from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import os from "node:os";

/** Replaces each of these functions with one that throws. */
function refuse(what: string, holder: object, names: readonly string[]): void {
  // Some of them are classes: an arrow function would not support `new`.
  function refusal(): never {
    throw new Error(what);
  }
  // `configurable: false`: the functions cannot be restored.
  for (const name of names)
    Object.defineProperty(holder, name, { value: refusal, configurable: false, writable: false });
}

/** Every function of an object, including those that later versions of Node add. */
const functionsOf = (holder: object) =>
  Reflect.ownKeys(holder).filter(
    (name): name is string =>
      typeof name === "string" && name !== "constructor" && typeof Object(holder)[name] === "function",
  );

/** A class's prototype and its base prototypes. */
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
// The underscored ones are internal to Node and its debugger.
refuse(noProcesses, process, ["kill", "_kill", "_debugProcess", "_debugEnd", "binding", "_linkedBinding"]);
refuse(noProcesses, os, ["setPriority"]);

// Also updates imports such as `import { lookup } from "node:dns"`.
syncBuiltinESMExports();
