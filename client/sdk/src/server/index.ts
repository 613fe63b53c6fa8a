/**
 * The public surface of @svc/client/server: for servers that render pages, never for browsers.
 * The bridge and its session need `iron-session` beside it.
 */
export type { User } from "../auth/state.ts";
export { type BridgeHandlers, type BridgeOptions, createSvcAuthBridgeHandlers } from "./bridge.ts";
export type { ClientAddressOptions } from "./hand-address.ts";
export { type BridgeSession, type IncomingRequest, readBridgeSession } from "./read-bridge-session.ts";
export {
  createServerCaller,
  type ServerCaller,
  type ServerCallerOptions,
  type ServerCalls,
} from "./server-caller.ts";
export type { BridgeSessionOptions } from "./session-settings.ts";
