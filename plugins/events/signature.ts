/** What is sent of an event, and the secrets that sign it (Standard Webhooks). */
import { randomBytes } from 'node:crypto'

import { signedHeaders } from '../hooks/signature.ts'

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
export function headersOf({ id, body }: Message, secrets: readonly string[], now: Date) {
  const keys = secrets.map((secret) => Buffer.from(secret.replace(/^(?:v1,)?whsec_/, ''), 'base64'))
  return { 'content-type': 'application/json', ...signedHeaders(keys, { id, body, now }) }
}
