/** A queued request, encrypted because it contains an identifier. */
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import { RepeatTooSoon, SendQuotaExceeded } from '../../../schemas/errors.ts'
import { readStored, StoredFormError, type StoredSchema } from '../../../schemas/values/stored.ts'

const EncryptedRequest = Type.Object({
  v: Type.Literal(1),
  /** A UUID, also of the resulting message. */
  id: Type.String({ minLength: 1 }),
  request: Type.String({ minLength: 1 }),
  /** ISO 8601 */
  asked_at: Type.String({ minLength: 1 }),
})
export type EncryptedRequest = Static<typeof EncryptedRequest>

/** The Accept-Language of the request; absent in jobs of an older version. */
export const AcceptedLanguages = Type.Optional(Type.String())

const what = 'A request in the queue'

export function encryptRequest(
  { encryption }: FastifyInstance,
  id: string,
  request: object,
  now: Date,
): EncryptedRequest {
  const encrypted = encryption.encrypt(id, JSON.stringify(request))
  return { v: 1, id, request: encrypted, asked_at: now.toISOString() }
}

/** Throws StoredFormError. */
export function decryptStoredRequest(payload: unknown): EncryptedRequest {
  return readStored(EncryptedRequest, payload, what)
}

/** Throws StoredFormError, and DecryptionError when the encryption key is not configured. */
export function decryptRequest<Schema extends StoredSchema>(
  { encryption }: FastifyInstance,
  schema: Schema,
  { id, request }: EncryptedRequest,
): Static<Schema> {
  const parsed: unknown = JSON.parse(encryption.decrypt(id, request, what))
  return readStored(schema, parsed, what)
}

/** A request older than the lifetime of a code or link is dropped. */
export function isTooOld(
  { asked_at }: EncryptedRequest,
  lifetimeSeconds: number,
  now: Date,
): boolean {
  return now.getTime() - Date.parse(asked_at) > lifetimeSeconds * 1000
}

/** Whether another replica may be able to decrypt it: one of a newer release, or with another key. */
export function isForOtherReplica(error: unknown): boolean {
  if (error instanceof StoredFormError) return error.isNewer
  return error instanceof Error && error.name === 'DecryptionError'
}

interface Queued {
  task: string
  job: EncryptedRequest
  maxAttempts?: number
}

/**
 * Postpones a job that exceeded the send quota or the minimum interval until it may be sent or has expired. Rethrows
 * every other error.
 */
export async function postpone(
  { db, jobQueue, log }: FastifyInstance,
  error: unknown,
  { task, job, ...more }: Queued,
  now: Date,
): Promise<void> {
  const isRepeat = error instanceof RepeatTooSoon
  if (!isRepeat && !(error instanceof SendQuotaExceeded)) throw error
  const delayMs = (error.details.retryAfter ?? 1) * 1000
  const waiting = { message_id: job.id, run_at: new Date(now.getTime() + delayMs) }
  if (isRepeat) log.debug(waiting, 'message postponed: minimum interval')
  else log.warn(waiting, 'message postponed: hourly send quota exceeded')
  await jobQueue.enqueue(db, task, job, { ...more, delayMs })
}
