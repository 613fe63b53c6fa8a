/**
 * Removes codes of `deviceAuthorization` that no device has asked for again; anybody may make one. A device that asks within a
 * day is told that its code has expired, and the plugin removes it. Called by `src/auth/sweeper.ts`.
 */
import type { Library } from "../library-types.ts";

/** In milliseconds. */
const day = 24 * 60 * 60_000;

/** @returns undefined without the plugin */
export function deviceCodeSweep({ context }: Library): (() => Promise<unknown>) | undefined {
  if (!context.hasPlugin("device-authorization")) return undefined;
  return () => {
    const isOver = { field: "expiresAt", operator: "lt" as const, value: new Date(Date.now() - day) };
    return context.adapter.deleteMany({ model: "deviceCode", where: [isOver] });
  };
}
