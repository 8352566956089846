/** Standard Webhooks signatures, by which a receiver authenticates our calls. */
import { createHmac } from 'node:crypto'

const prefix = 'v1,whsec_'

/** The signing keys of AUTH_HOOK_<NAME>_SECRETS. */
export function readSigningKeys(secrets: readonly string[]): Buffer[] {
  return secrets.map((secret) => Buffer.from(secret.slice(prefix.length), 'base64'))
}

/**
 * The signature headers of a body: one signature per key, separated by spaces, so that secrets can be rotated. Without
 * keys the signature is empty.
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
