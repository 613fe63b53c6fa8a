/**
 * Encrypts the codes that plugins store as plain text, such as those of `phoneNumber`: a reader of the database cannot use them.
 * The plugins compare them as text, so a hash would not do. Called by `../create-sign-in.ts`.
 */
import { symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import type { Library } from "../library-types.ts";

/** A code, and how often it was tried. */
const counted = /^\d{4,}:\d+$/;

/**
 * `/sign-in/phone-number` stores its code without a count, under the number alone. Other values of digits may be the ids of users, by
 * which svc searches.
 */
const isCode = (identifier: string, value: string): boolean =>
  counted.test(value) || (/^\d{4,}$/.test(value) && !/\p{L}/u.test(identifier));

/**
 * An encrypted code, and its count as the plugin writes it. Before the first colon nothing can be guessed: a process of an earlier
 * version of svc compares what stands there with the code that it is given.
 */
const sealed = /^svc(\$ba\$\d+\$[^:]+)(:\d+)?$/;

export function sealCodes({ context: { internalAdapter, secretConfig: key } }: Pick<Library, "context">): void {
  const { createVerificationValue, updateVerificationByIdentifier, findVerificationValue, consumeVerificationValue } =
    internalAdapter;
  const seal = async <Data extends { value?: string }>(identifier: string, data: Data): Promise<Data> => {
    if (data.value === undefined || !isCode(identifier, data.value)) return data;
    const [code = "", ...count] = data.value.split(":");
    return { ...data, value: [`svc${await symmetricEncrypt({ key, data: code })}`, ...count].join(":") };
  };
  /** null where no secret of the list decrypts it: the user asks for another code. */
  const open = async <Row extends { value: string }>(row: Row | null): Promise<Row | null> => {
    const [, data, count = ""] = sealed.exec(row?.value ?? "") ?? [];
    if (!row || data === undefined) return row;
    const code = await symmetricDecrypt({ key, data }).catch(() => null);
    return code === null ? null : { ...row, value: code + count };
  };

  internalAdapter.createVerificationValue = async (data) => createVerificationValue(await seal(data.identifier, data));
  internalAdapter.updateVerificationByIdentifier = async (identifier, data) =>
    updateVerificationByIdentifier(identifier, await seal(identifier, data));
  internalAdapter.findVerificationValue = async (identifier) => open(await findVerificationValue(identifier));
  internalAdapter.consumeVerificationValue = async (identifier) => open(await consumeVerificationValue(identifier));
}
