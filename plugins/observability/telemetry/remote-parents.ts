/** Whose traces are continued. Apart from the instrumentation, which is loaded before the configuration is read. */
import type { IncomingMessage } from 'node:http'

let isTrusted = (_address: string): boolean => false

/** Requests from these addresses continue the trace that they name; all others begin one of their own. */
export function continueTracesFrom(isTrustedPeer: (address: string) => boolean): void {
  isTrusted = isTrustedPeer
}

/**
 * Removes the trace context that an untrusted peer sent. Neither its flag nor its trace id may count: the ratio is
 * computed from the id, so a client could choose one that is recorded.
 */
export function dropUntrustedParent({ headers, socket }: IncomingMessage, names: string[]): void {
  if (isTrusted(socket.remoteAddress ?? '')) return
  for (const name of names) delete headers[name]
}
