/** For svc's own bindings, such as @svc/tanstack-db: parts of the client that may change with every release. */
export { onOtherUser } from "./authorized.ts";
export { fromBody, toBody } from "./body.ts";
export { toError } from "./request.ts";
export { convertRows } from "./rows.ts";
export { decode, encode } from "./wire.ts";
