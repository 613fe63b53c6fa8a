/** What `pg` keeps of a client and its connection, and what its types do not have. */
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type pg from "pg";

/** A connection. */
export interface Wire extends EventEmitter {
  stream: Socket;
  parsedStatements: Record<string, string | undefined>;
  /** Those that PostgreSQL is preparing. */
  submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: { name?: string | undefined }): void;
  close(statement: { type: "S"; name: string }): void;
  describe(portal: unknown): void;
  /** Whether a name must be freed before a statement gets it: behind a pooler (`direct.ts`). */
  freesNames?: boolean;
}

interface Inner {
  connection: Wire;
  /** Whether the server has answered all that was sent, and is ready for the next statement. */
  readyForQuery: boolean;
  getTransactionStatus(): string | null;
  processID: number;
}

export const innerOf = (client: pg.ClientBase): Inner => client as unknown as Inner;
export const wireOf = (client: pg.ClientBase): Wire => innerOf(client).connection;
