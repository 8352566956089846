/** Takes a call, as JSON, to the operator's hook. Resolves to what it answered; undefined for an empty yes. */
export type Transport = (body: string) => Promise<unknown>
