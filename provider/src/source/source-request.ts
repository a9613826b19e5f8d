import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { FetchRequest } from "@dataset-oracle/service/untrusted/fetch-text";
import type { RateLimit } from "../callers/rate-limit.js";
import type { Json } from "./exact-json.js";
import type { SourceFailure } from "./source-failure.js";

/** A request to a source. */
export interface SourceRequest extends FetchRequest {
  /** The source file that makes the request; absent for a published spec, which anyone may have written. */
  readonly source?: SourceFile;
  /** Shared by all requests to the URL's origin; null for neither a limit nor back-off. */
  readonly rateLimit: RateLimit | null;
}

/** A request of a source file. */
export type FileRequest = SourceRequest & { readonly source: SourceFile };

/** The part of a source file that is needed to judge an answer. */
interface SourceFile {
  /** The source's name in logs and metrics. */
  readonly name: string;
  /** Returns the error that the source's answer names, or null. */
  findError(document: Json): SourceFailure | null;
}

/** The ids of requests that are made again and again. */
const REQUEST_IDS = new WeakMap<FetchRequest, string>();

/** Returns an id that two requests share when they get the same answer: the order of headers has no meaning. */
export function requestId(request: FetchRequest): string {
  const known = REQUEST_IDS.get(request);
  if (known !== undefined) return known;
  const { method, url, headers, body } = request;
  // Hashed, because many are kept, and whoever publishes a spec chooses how long they are.
  const id = sha256(JSON.stringify([method, url, Object.entries(headers ?? {}).sort(), body ?? null]));
  REQUEST_IDS.set(request, id);
  return id;
}
