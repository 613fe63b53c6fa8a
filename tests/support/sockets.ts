/** A WebSocket client that stores every frame, so that a test can wait for one. */
import { once } from "node:events";
import { afterEach } from "vitest";
import WebSocket from "ws";
import type { Database } from "./database.ts";
import { bearer, type TestService, type User } from "./service.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames of many shapes
type Frame = any;

export class Socket {
  readonly frames: Frame[] = [];
  readonly websocket: WebSocket;
  /** Set when the socket has closed. */
  closed: { code: number; reason: string } | undefined;

  constructor(url: string, options: WebSocket.ClientOptions = {}) {
    this.websocket = new WebSocket(url, options);
    this.websocket.on("message", (data) => this.frames.push(JSON.parse(String(data))));
    this.websocket.on("close", (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
    this.websocket.on("error", () => {});
  }

  /** Connects as a user, or anonymously, and waits until events arrive. */
  static async open(service: TestService, user: User | null): Promise<Socket> {
    const ticket = user ? `?ticket=${await ticketFor(service, user)}` : "";
    const socket = new Socket(`${service.url.replace("http", "ws")}/ws${ticket}`);
    await socket.wait({ type: "status", flow: "live" });
    return socket;
  }

  send(frame: unknown): void {
    this.websocket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Waits for a frame with these members; removes it and those before it. */
  async wait(members: object): Promise<Frame> {
    return (await this.upTo(members)).at(-1);
  }

  /** The same. @returns all removed frames; the awaited one is the last */
  async upTo(members: object): Promise<Frame[]> {
    const late = AbortSignal.timeout(45_000);
    for (;;) {
      const found = this.frames.findIndex((frame) => matches(frame, members));
      if (found >= 0) return this.frames.splice(0, found + 1);
      await once(this.websocket, "message", { signal: late }).catch(() => {
        throw new Error(`No ${JSON.stringify(members)} among ${JSON.stringify(this.frames)}`);
      });
    }
  }

  async subscribe(query: string): Promise<void> {
    this.send({ type: "subscribe", query });
    await this.wait({ type: "subscribed", query });
  }

  close(): void {
    this.websocket.terminate();
  }
}

const matches = (frame: Frame, members: object) =>
  Object.entries(members).every(([key, value]) => JSON.stringify(frame?.[key]) === JSON.stringify(value));

export async function ticketFor(service: TestService, user: User): Promise<string> {
  const { status, body } = await service.fetch("/api/realtime/ticket", { method: "POST", headers: bearer(user) });
  if (status !== 200) throw new Error(`No ticket: ${status}`);
  return body.ticket;
}

/**
 * Connects users, or anonymous clients, until the end of the test. Call it at the top of the file, after `service()`.
 */
export function sockets(service: TestService): (user: User | null) => Promise<Socket> {
  const open: Socket[] = [];
  afterEach(() => {
    for (const socket of open.splice(0)) socket.close();
  });
  return async (user) => {
    const socket = await Socket.open(service, user);
    open.push(socket);
    return socket;
  };
}

/** Frames since the last awaited one. A marker event comes last: changes until now arrive before it. */
export async function heard(socket: Socket, db: Database): Promise<Frame[]> {
  socket.send({ type: "subscribe", query: "guestbook.list" });
  const before = await socket.upTo({ type: "subscribed", query: "guestbook.list" });
  await db.sql("insert into guestbook (message) values ('marker')");
  const after = await socket.upTo({ type: "invalidate", queries: ["guestbook.list"] });
  socket.send({ type: "unsubscribe", query: "guestbook.list" });
  return [...before.slice(0, -1), ...after.slice(0, -1)];
}

/** Ends the reader of the log, as a restart of PostgreSQL does. */
export const cutReader = (db: Database) =>
  db.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'walsender' and datname = current_database()",
  );

/** Ends the connections that hear of revocations. Which were missed is unknown then, so that all sockets of users are closed. */
export const cutRevocations = (db: Database) =>
  db.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc revocations' and datname = current_database()",
  );
