/**
 * The functions with which an application sends the messages of better-auth's plugins: they run beside the answer, and their errors
 * are logged without what was sent. The library copies a plugin's options when it is made, waits for `sendMagicLink`, and lets an
 * error through that a function throws before its first `await`. So svc makes these plugins again, from their options.
 * Called by `../library.ts`. Next hop: `plugin-messages.ts`.
 */
import type { BetterAuthPlugin } from "better-auth";
import type { PluginMessages } from "./plugin-messages.ts";

type Options = Readonly<Record<string, unknown>>;
type Send = (message: Record<string, unknown>, ...more: unknown[]) => unknown;

/** By id. A module is loaded where an application has loaded it. */
const makers: Record<string, (options: never) => Promise<BetterAuthPlugin>> = {
  "email-otp": async (options) => (await import("better-auth/plugins/email-otp")).emailOTP(options),
  "magic-link": async (options) => (await import("better-auth/plugins/magic-link")).magicLink(options),
  "phone-number": async (options) => (await import("better-auth/plugins/phone-number")).phoneNumber(options),
  "two-factor": async (options) => (await import("better-auth/plugins/two-factor")).twoFactor(options),
};

const senders = new Set(["sendMagicLink", "sendOTP", "sendPasswordResetOTP", "sendVerificationOTP"]);

/** What the library hands to these functions that grants access, or says who gets it. */
const secret = ["code", "otp", "token", "url", "email", "phoneNumber"];

/** Names of tables and columns, and limits, stay as they are set. A plugin without such a function stays unchanged. */
export function besideAnswers(
  plugins: readonly BetterAuthPlugin[],
  messages: Pick<PluginMessages, "send">,
): Promise<BetterAuthPlugin[]> {
  return Promise.all(
    plugins.map(async (plugin) => {
      const options = besideIn(plugin.options, messages);
      const made = options && (await makers[plugin.id]?.(options as never));
      if (!made) return plugin;
      const { endpoints, hooks, init } = made;
      return {
        ...plugin,
        endpoints: { ...plugin.endpoints, ...endpoints },
        ...(hooks && { hooks }),
        ...(init && { init }),
      };
    }),
  );
}

/** The options, with functions that run beside the answer; null without any. Those of `twoFactor` are in `otpOptions`. */
function besideIn(options: Options | undefined, messages: Pick<PluginMessages, "send">): Options | null {
  const changed = Object.entries(options ?? {}).flatMap(([name, value]) => {
    const isSender = senders.has(name) && typeof value === "function";
    const beside =
      name === "otpOptions" ? besideIn(value as Options, messages) : isSender && sending(value as Send, messages);
    return beside ? [[name, beside]] : [];
  });
  return changed.length > 0 ? { ...options, ...Object.fromEntries(changed) } : null;
}

function sending(send: Send, messages: Pick<PluginMessages, "send">): Send {
  return (message, ...more) => {
    const secrets = secret.map((key) => message[key]).filter((value) => typeof value === "string");
    messages.send(() => send(message, ...more), secrets);
  };
}
