/** What is known of a server: its programs, where they are, and how to reach it once it runs. */
import type { ServerUser } from "./places.ts";

/** The values of SVC_POSTGRES. */
export type Choice = "auto" | "installed" | "embedded";

/** One set of server programs that ran when asked for its version. */
export interface Programs {
  origin: "installed" | "embedded";
  binDir: string;
  /** The server's own version text: 15.18 */
  serverVersion: string;
  major: number;
  /** Why these programs were chosen; one sentence. */
  reason: string;
}

/** Programs with everything that a cluster needs around them. */
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
  /** Where finds are kept, from `treeDirectory`. */
  directory: string;
  user: ServerUser | null;
  choice: Choice;
  /** The only major version wanted, because a cluster of it exists. */
  major: number | null;
  /** Look for pgvector again where an earlier find went without it. */
  retryVector: boolean;
  report: (line: string) => void;
}

/** One connection string per pool: each login reaches only what its pool needs. */
export interface DatabaseUrls {
  /** Statements of requests, under row-level security. */
  request: string;
  /** Jobs and `unsafeDb`: looks past row-level security. */
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

export interface Cluster {
  urls: DatabaseUrls;
  /** For example 15.18. */
  serverVersion: string;
  origin: "external" | "cached" | "installed" | "embedded";
  /** Why this server was chosen; one sentence. */
  reason: string;
  /** The pgvector version that `create extension vector` would give, or null. */
  vector: string | null;
  /** Where psql, pg_dump and their like may be; null for a server elsewhere. */
  binDir: string | null;
  /** Where data, log and passwords of a private cluster lie; null for a server elsewhere. */
  directory: string | null;
  /** Whether `stop` stops the server: true for the process that started it or took it over. */
  owned: boolean;
  /**
   * Resolves when a private server has died and could not be restarted: then this process has no database. Never
   * resolves for an external server, which may come back at any time.
   */
  failed: Promise<Error>;
  /** Releases the cluster; the owner's call stops the server and waits for it. May be called twice. */
  stop(): Promise<void>;
}
