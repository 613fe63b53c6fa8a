/**
 * The functions with which an application sends the messages of better-auth's plugins: they run beside the answer, and their errors
 * are logged without what was sent. The library copies a plugin's options when it is made, waits for `sendMagicLink`, and lets an
 * error through that a function throws before its first `await`. So svc makes these plugins again, from their options.
 * Called by `../library.ts`. Next hop: `plugin-messages.ts`.
 */
import type { BetterAuthPlugin } from "better-auth";
import type { PluginMessages } from "./plugin-messages.ts";

type Options = Readonly<Record<string, unknown>> | undefined;
type Send = (message: Record<string, unknown>, ...more: unknown[]) => unknown;
/** The functions of these names that the options have, as they are to be called. */
type Beside = (options: Options, ...names: string[]) => Record<string, Send>;

/** By id. A module is loaded where an application has loaded it. */
const makers: Record<string, (options: Options, beside: Beside) => Promise<unknown>> = {
  "email-otp": async (options, beside) =>
    (await import("better-auth/plugins/email-otp")).emailOTP({
      ...options,
      ...beside(options, "sendVerificationOTP"),
    } as never),
  "magic-link": async (options, beside) =>
    (await import("better-auth/plugins/magic-link")).magicLink({
      ...options,
      ...beside(options, "sendMagicLink"),
    } as never),
  "phone-number": async (options, beside) =>
    (await import("better-auth/plugins/phone-number")).phoneNumber({
      ...options,
      ...beside(options, "sendOTP", "sendPasswordResetOTP"),
    } as never),
  "two-factor": async (options, beside) => {
    const { twoFactor } = await import("better-auth/plugins/two-factor");
    const otpOptions = options?.otpOptions as Options;
    return twoFactor({ ...options, otpOptions: { ...otpOptions, ...beside(otpOptions, "sendOTP") } } as never);
  },
};

/** What the library hands to these functions that grants access, or says who gets it. */
const secret = ["code", "otp", "token", "url", "email", "phoneNumber"];

export function besideAnswers(
  plugins: readonly BetterAuthPlugin[],
  messages: Pick<PluginMessages, "send">,
): Promise<BetterAuthPlugin[]> {
  const beside: Beside = (options, ...names) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const send = options?.[name];
        return typeof send === "function" ? [[name, sending(send as Send, messages)]] : [];
      }),
    );
  return Promise.all(plugins.map((plugin) => remade(plugin, beside)));
}

function sending(send: Send, messages: Pick<PluginMessages, "send">): Send {
  return (message, ...more) => {
    const secrets = secret.map((key) => message[key]).filter((value) => typeof value === "string");
    messages.send(() => send(message, ...more), secrets);
  };
}

/** Names of tables and columns, and limits, stay as they are set. */
async function remade(plugin: BetterAuthPlugin, beside: Beside): Promise<BetterAuthPlugin> {
  const made = (await makers[plugin.id]?.(plugin.options, beside)) as BetterAuthPlugin | undefined;
  if (!made) return plugin;
  const { endpoints, hooks, init } = made;
  return {
    ...plugin,
    endpoints: { ...plugin.endpoints, ...endpoints },
    ...(hooks && { hooks }),
    ...(init && { init }),
  };
}
