/** Types for a server: its programs, their location, and how to reach it when it runs. */
import type { ServerUser } from "./places.ts";

/** The values of SVC_POSTGRES. */
export type Choice = "auto" | "installed" | "embedded";

/** One set of server programs whose version could be read. */
export interface Programs {
  origin: "installed" | "embedded";
  binDir: string;
  /** The server's own version text: 15.18 */
  serverVersion: string;
  major: number;
  /** Why these programs were chosen; one sentence. */
  reason: string;
}

/** Server programs and what a cluster needs beside them. */
export interface Tree extends Programs {
  /** pgvector's version, or null with `vectorNote` saying why and how to get it. */
  vector: string | null;
  vectorNote: string | null;
  /** Settings that make the server see a pgvector outside its own directories. */
  settings: Record<string, string>;
  /** Paths that must exist for this find to stay valid. */
  requires: string[];
}

export interface ResolveOptions {
  /** The folder of found programs, from `treeDirectory`. */
  directory: string;
  user: ServerUser | null;
  choice: Choice;
  /** The only major version wanted, because a cluster of it exists. */
  major: number | null;
  /** Try again to get pgvector when it is missing. */
  retryVector: boolean;
  report: (line: string) => void;
}

/** One connection string per pool: each login reaches only what its pool needs. */
export interface DatabaseUrls {
  /** Statements of requests, under row-level security. */
  request: string;
  /** Jobs and `unsafeDb`: bypasses row-level security. */
  system: string;
  /** The workers' listener and lock: the system's login, never through a pooler of transactions. */
  queue: string;
  /** better-auth, and only its schema. */
  auth: string;
  /** Migrations. */
  admin: string;
  /** The stream of changes that realtime reads. */
  replication: string;
}

/** The logins of Studio. */
export interface StudioUrls {
  /** Reads as a user: `svc_studio_read`. */
  read: string;
  /** The acts of operators: `svc_studio_act`. null: Studio has no acts. */
  act: string | null;
}

export interface Cluster {
  urls: DatabaseUrls;
  /** null for an external server: the configuration has them (`database.studio`). */
  studio: StudioUrls | null;
  /** For example 15.18. */
  serverVersion: string;
  origin: "external" | "cached" | "installed" | "embedded";
  /** Why this server was chosen; one sentence. */
  reason: string;
  /** The pgvector version that `create extension vector` would install, or null. */
  vector: string | null;
  /** A folder that may have psql and pg_dump; null for an external server. */
  binDir: string | null;
  /** The folder of a private cluster's data, log and passwords; null for an external server. */
  directory: string | null;
  /** Whether `stop` stops the server: true for the process that started it or took it over. */
  owned: boolean;
  /**
   * Resolves when a private server has died and could not be restarted: this process then has no database. Never
   * resolves for an external server, which may come back at any time.
   */
  failed: Promise<Error>;
  /** Releases the cluster; the owner's call stops the server and waits for it. May be called twice. */
  stop(): Promise<void>;
}
