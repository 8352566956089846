/** Marks the values of a statement whose outcome nobody waits for, on their way through Kysely to the connection. */
const marked = new WeakSet<readonly unknown[]>()

export function markUnawaited(values: readonly unknown[]): void {
  marked.add(values)
}

export const isUnawaited = (values: readonly unknown[]): boolean => marked.has(values)
