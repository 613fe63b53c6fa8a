/**
 * What an error of an S3 store means: the store is away for a time, or the operator has to set something. Other
 * errors stay unchanged.
 */
import { SvcError } from "../../kit/svc-error.ts";

/** The operator can set it right. The message says how; callers get INTERNAL. */
export class StoreRefusal extends Error {
  override readonly name = "StoreRefusal";
}

interface Store {
  bucket: string;
  endpoint?: string | undefined;
  region?: string | undefined;
}

interface StoreError extends Error {
  code?: string;
  /** Of stores that say which region they expect. */
  Region?: string;
  $metadata?: { httpStatusCode?: number };
}

/** In seconds. */
const tryAgainAfter = 5;

/**
 * Connection errors, as Node's sockets and the S3 client's handlers name them, and errors of stores. A repeated request to
 * finish a multipart upload finds none if the answer to the first one was lost.
 */
const away =
  /^(ECONN\w+|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|TimeoutError|RequestTimeout\w*|SlowDown|ServiceUnavailable|InternalError|NoSuchUpload)$/;

/** For callers 503 with `Retry-After`. */
class StoreAway extends SvcError {}

export const unreachable = (cause?: unknown): SvcError =>
  new StoreAway("UNAVAILABLE", "The file store cannot be reached.", { retryAfter: tryAgainAfter, cause });

/** @returns a text for the operator if the store refuses or is away; undefined for other errors */
export function describeStoreError(error: unknown): string | undefined {
  if (error instanceof StoreRefusal) return error.message;
  if (!(error instanceof StoreAway)) return undefined;
  return error.cause instanceof Error ? `${error.message}\n  ${error.cause.message}` : error.message;
}

/** The status of the store's answer. @param error of the S3 client, or one of `refusalOf` */
export const statusOf = (error: unknown): number | undefined =>
  (((error as Error).cause ?? error) as StoreError).$metadata?.httpStatusCode;

/** An unreachable or busy store is a temporary error; refused credentials are not. */
export function refusalOf(error: unknown, store: Store): unknown {
  const { name = "", code = "", message } = error as StoreError;
  const status = statusOf(error) ?? 0;
  if (away.test(name) || away.test(code) || status >= 500 || status === 429) return unreachable(error);
  const remedy = remedyFor(error as StoreError, store);
  if (remedy === undefined) return error;
  const { origin, pathname } = new URL(store.endpoint ?? "https://amazonaws.com"); // without a password
  const place = `The bucket ${store.bucket} of ${origin}${pathname === "/" ? "" : pathname}`;
  const said = [code || name, message.trim()].filter((text) => text !== "" && text !== "Error").join(": ");
  return new StoreRefusal(`${place} cannot be used: ${said}\n  ${remedy}`, { cause: error });
}

function remedyFor({ name, code = "", message, Region, $metadata }: StoreError, store: Store): string | undefined {
  if (/^(NoSuchBucket|InvalidBucketName)$/.test(name)) {
    return "Create it, or set storage.bucket. storage.endpoint is the address of the store, without the bucket.";
  }
  if (/^(CredentialsProviderError|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken)$/.test(name)) {
    return "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key of this store, and AWS_SESSION_TOKEN if the key is temporary.";
  }
  if (
    /^(AuthorizationHeaderMalformed|PermanentRedirect|InvalidRegionName)$/.test(name) ||
    /^Region is /.test(message)
  ) {
    return `Set storage.region to the region of the bucket${Region ? `, ${Region}` : ""}${store.region ? `, not ${store.region}` : ""}.`;
  }
  if (name === "RequestTimeTooSkewed") return "Set the clock of this machine: it differs from the store's.";
  if (name === "SecondLevelDomainForbidden")
    return "Set storage.pathStyle to false: this store has a host name for each bucket.";
  if (/^(EPROTO|HPE_\w+|ERR_TLS_\w+|\w*CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/.test(code)) {
    return "storage.endpoint begins with http:// or https://, as the store speaks. NODE_EXTRA_CA_CERTS names a file with the certificate of your own authority.";
  }
  if (name === "IgnoredRange") return "Let no proxy or cache stand before it that ignores the header Range.";
  if (name === "NotFound") return "No S3 store answers there: set storage.endpoint.";
  if ($metadata?.httpStatusCode !== 403) return undefined;
  return "Its key needs s3:ListBucket and s3:ListBucketMultipartUploads for the bucket, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload for its objects.";
}
