/** Signed webhook requests (Standard Webhooks). */
import { randomBytes } from 'node:crypto'

import { signedHeaders } from '../../outgoing/hooks/signature.ts'

export interface Message {
  /** Of the event: the same for every attempt, endpoint and replay. */
  id: string
  /** JSON. */
  body: string
}

/** In the form receivers configure: `whsec_` and 32 random bytes in base64. */
export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** The headers of one attempt. Every secret signs, so that a receiver may use either one during a rotation. */
export function signMessageHeaders({ id, body }: Message, secrets: readonly string[], now: Date) {
  const keys = secrets.map((secret) => Buffer.from(secret.replace(/^(?:v1,)?whsec_/, ''), 'base64'))
  return { 'content-type': 'application/json', ...signedHeaders(keys, { id, body, now }) }
}
