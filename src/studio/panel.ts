/** One thing that Studio's page may ask for: what it takes, and who answers. */
import pg from "pg";
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { acquire } from "../postgres/acquire.ts";
import type { Observations } from "../telemetry/observations.ts";
import { explained } from "./view.ts";

export interface PanelOptions {
  /** As `svc_studio_read`. */
  read: pg.Pool;
  /** As `svc_studio_act`; null: every act is refused. */
  act: pg.Pool | null;
  /** Runs a command of `svc` that prints JSON, such as `doctor`. */
  command(...words: string[]): Promise<unknown>;
  /** What the service does, beside `svc dev`. (Default: it is not known) */
  observations?: Observations | undefined;
}

export interface Tools extends PanelOptions {
  /** Rows of a function `svc_private.studio_…`. */
  ask(text: string, values?: unknown[]): Promise<Row[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: rows of many functions
type Row = any;

export interface Panel {
  input: z.ZodType;
  answer(input: never, tools: Tools): Promise<unknown>;
}

export const panel = <Input extends z.ZodType>(
  input: Input,
  answer: (input: z.output<Input>, tools: Tools) => Promise<unknown>,
): Panel => ({ input, answer });

/** @throws SvcError VALIDATION_FAILED, which names the members */
export function inputOf(schema: z.ZodType, given: unknown): never {
  const { success, data, error } = schema.safeParse(given);
  if (!success) throw new SvcError("VALIDATION_FAILED", z.prettifyError(error));
  return data as never;
}

export function toolsOf(options: PanelOptions): Tools {
  const { read, command } = options;
  return { ...options, command: onceAtATime(command), ask: (text, values) => ask(read, text, values) };
}

/** @throws SvcError for the page; UNAVAILABLE when the database cannot be reached */
export async function ask(pool: pg.Pool, text: string, values: unknown[] = []): Promise<Row[]> {
  const { client, release } = await acquire(pool);
  try {
    const { rows } = await client.query(text, values);
    release();
    return rows;
  } catch (error) {
    release(!(error instanceof pg.DatabaseError));
    throw explained(error);
  }
}

/** A command costs a process: a second request for it, while it runs, gets the same result. */
function onceAtATime(command: PanelOptions["command"]): PanelOptions["command"] {
  const running = new Map<string, Promise<unknown>>();
  return (...words) => {
    const id = words.join(" ");
    const result = running.get(id) ?? command(...words).finally(() => running.delete(id));
    running.set(id, result);
    return result;
  };
}
