/**
 * Who is signed in, in token mode. The session token (7 days) and the user stay in local storage; the JWT (5 minutes)
 * that calls carry stays in memory and is renewed with the session token. Next hop: `api.js` puts it on each call.
 */
import { post } from "./http.js";

const sessionKey = "svc.session";
const userKey = "svc.user";

let jwt = null;
let renewal = null;
let listener = () => {};

/** The signed-in user as last heard, `{ id, email, name }`, or null. */
export function currentUser() {
  return localStorage.getItem(sessionKey) ? JSON.parse(localStorage.getItem(userKey)) : null;
}

/** Calls back with `{ expired }` after each sign-in and sign-out, also one in another tab. */
export function onSessionChange(callback) {
  listener = callback;
}

export const signUp = async (input) => enter(await post("/api/auth/sign-up", input));
export const signIn = async (input) => enter(await post("/api/auth/sign-in", input));

/** Signs out here at once. The service forgets the session too, unless it cannot be reached. */
export async function signOut() {
  const sessionToken = localStorage.getItem(sessionKey);
  leave();
  await post("/api/auth/sign-out", {}, sessionToken).catch(() => {});
}

/** A JWT that is still good, or null when nobody is signed in. @param refused a JWT that the service did not accept */
export function accessToken(refused) {
  if (!localStorage.getItem(sessionKey)) return null;
  if (jwt && jwt.token !== refused && Date.now() < jwt.renewAt) return jwt.token;
  // Calls that find the JWT stale at the same time share one renewal.
  renewal ??= renew().finally(() => {
    renewal = null;
  });
  return renewal;
}

async function renew() {
  const sessionToken = localStorage.getItem(sessionKey);
  const isCurrent = () => localStorage.getItem(sessionKey) === sessionToken;
  try {
    const { token } = await post("/api/auth/token", {}, sessionToken);
    return isCurrent() ? keep(token) : null;
  } catch (error) {
    if (error.status !== 401) throw error;
    if (isCurrent()) leave({ expired: true });
    return null;
  }
}

/** Lifetime counts from arrival: the clock of this device may be wrong. 20 seconds early, for the way to the service. */
function keep(token) {
  const { iat, exp } = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  jwt = { token, renewAt: Date.now() + (exp - iat - 20) * 1000 };
  return token;
}

function enter({ user, sessionToken, token }) {
  keep(token);
  localStorage.setItem(userKey, JSON.stringify(user));
  localStorage.setItem(sessionKey, sessionToken); // last: this is the key that other tabs listen to
  listener({ expired: false });
}

function leave({ expired = false } = {}) {
  jwt = null;
  localStorage.removeItem(sessionKey);
  localStorage.removeItem(userKey);
  listener({ expired });
}

window.addEventListener("storage", ({ key }) => {
  if (key !== sessionKey && key !== null) return;
  jwt = null;
  listener({ expired: false });
});
