/** Signatures of the Standard Webhooks specification, by which a receiver knows that a call is ours. */
import { createHmac } from 'node:crypto'

const prefix = 'v1,whsec_'

/** The signing keys out of AUTH_HOOK_<NAME>_SECRETS. */
export function signingKeysOf(secrets: readonly string[]): Buffer[] {
  return secrets.map((secret) => Buffer.from(secret.slice(prefix.length), 'base64'))
}

/**
 * The headers that sign this body: one signature for each key, separated by a space, so that a secret can be replaced
 * while the receiver still knows the old one. Without keys the signature is empty.
 */
export function signedHeaders(
  keys: readonly Buffer[],
  { id, body, now }: { id: string; body: string; now: Date },
): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000)
  const signatures = keys.map((key) => {
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    return `v1,${digest}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
