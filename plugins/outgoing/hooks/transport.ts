/** Sends a call, as JSON, to the operator's hook. Resolves to its response; undefined for an empty one. */
export type Transport = (body: string) => Promise<unknown>
