/** Calls procedures by name. The generated client will replace this file; the wire stays the same. */
import { post } from "./http.js";
import { accessToken } from "./session.js";

/** Reads. @throws ApiError */
export const query = (name, args) => call("/api/query", { name, args });

/** Writes. @throws ApiError */
export const mutate = (name, args) => call("/api/mutation", { name, args });

async function call(path, body) {
  const token = await accessToken();
  try {
    return (await post(path, body, token)).json;
  } catch (error) {
    // The JWT may have been revoked before its time: renew it once. Without a session the refusal stands.
    const renewed = error.status === 401 && token && (await accessToken(token));
    if (!renewed) throw error;
    return (await post(path, body, renewed)).json;
  }
}
