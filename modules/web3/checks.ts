/**
 * Checks that a message is intended for this server and currently valid. In GoTrue's order, so that clients get the
 * same first error.
 */
import type { Deps } from '../../plugins/define-plugin.ts'
import { walletRejected } from '../../schemas/errors.ts'
import { isAllowedRedirect } from '../flows/index.ts'
import type { WalletMessage } from './message.ts'

/** Throws invalid_grant unless the page that requested the signature is an allowed redirect target. */
export function checkOrigin({ flows }: Deps<'flows'>, { domain, uri }: WalletMessage): void {
  const isLocal = uri.hostname === 'localhost'
  if (uri.protocol !== 'https:' && !isLocal) {
    throw walletRejected('The URI of the message must use https')
  }
  if (!isAllowedRedirect(uri.href, flows.redirectRules)) {
    throw walletRejected('The URI of the message is not an allowed redirect')
  }
  // Also for localhost: the wallet shows the domain, so a page of another domain cannot request this signature.
  if (uri.host !== parseHost(domain, uri.protocol)) {
    throw walletRejected('The URI of the message belongs to another domain')
  }
  if (isLocal) return
  if (!isAllowedRedirect(`https://${domain}/`, flows.redirectRules)) {
    throw walletRejected('The domain of the message is not an allowed redirect')
  }
}

/** Throws invalid_grant for a message that is not valid yet, or has expired. */
export function checkTimes(
  { issuedAt, notBefore, expirationTime }: WalletMessage,
  validityMs: number,
  now: Date,
): void {
  if (notBefore && now < notBefore) {
    throw walletRejected('The message is not valid yet')
  }
  if (expirationTime && now > expirationTime) {
    throw walletRejected('The message has expired')
  }
  const age = now.getTime() - issuedAt.getTime()
  if (age > validityMs) {
    throw walletRejected('The message was issued too long ago')
  }
  if (age < -validityMs) {
    throw walletRejected('The message was issued too far in the future')
  }
}

/** As the URL parser writes it: in lower case, without the default port. */
function parseHost(domain: string, protocol: string): string {
  return URL.parse(`${protocol}//${domain}/`)?.host ?? ''
}
