/** Signatures after Standard Webhooks (version 1): HMAC-SHA-256 over the id, the time and the body. */
import { createHmac, randomBytes } from 'node:crypto'

export interface Message {
  /** Of the event: the same at every attempt, at every endpoint and in every replay. */
  id: string
  /** JSON. */
  body: string
}

/** As receivers are given it: `whsec_` and 32 random bytes as base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** The headers of one attempt; each secret signs, so that a receiver may know either while one follows the other. */
export function signedHeaders({ id, body }: Message, secrets: readonly string[], now: Date) {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const content = `${id}.${timestamp}.${body}`
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret, content)}`).join(' '),
  }
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^(?:v1,)?whsec_/, ''), 'base64')
  return createHmac('sha256', key).update(content).digest('base64')
}
