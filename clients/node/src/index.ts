export { Loci } from "./client.js";
export type { BatchAnswers, BatchCall, BatchOptions, LociOptions } from "./client.js";
export { LociConnectionError, LociError, LociTimeoutError } from "./errors.js";
export type { AbortSignalLike, CallOptions, StreamMessage, StreamOptions } from "./caller.js";
export * from "./operations.js";
export * from "./types.js";
