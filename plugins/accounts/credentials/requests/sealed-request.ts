/** A request that waits in the queue, encrypted, because it holds an address. */
import { type Static, Type } from '@sinclair/typebox'

import { readStored, StoredFormError, type StoredSchema } from '../../../../schemas/stored.ts'
import type { House } from '../../../define-plugin.ts'

const SealedRequest = Type.Object({
  v: Type.Literal(1),
  /** A UUID; the message that may come of it has the same. */
  id: Type.String({ minLength: 1 }),
  request: Type.String({ minLength: 1 }),
  /** ISO 8601 */
  asked_at: Type.String({ minLength: 1 }),
})
export type SealedRequest = Static<typeof SealedRequest>

/** The Accept-Language of the request; those that were queued by an older version have none. */
export const AcceptedLanguages = Type.Optional(Type.String())

const what = 'A request in the queue'

export function sealRequest(
  { encryption }: House<'encryption'>,
  id: string,
  request: object,
  now: Date,
): SealedRequest {
  const sealed = encryption.encrypt(id, JSON.stringify(request))
  return { v: 1, id, request: sealed, asked_at: now.toISOString() }
}

/** Throws StoredFormError. */
export function readSealed(payload: unknown): SealedRequest {
  return readStored(SealedRequest, payload, what)
}

/** Throws StoredFormError, and DecryptionError when the key it was sealed with is not configured. */
export function openRequest<Schema extends StoredSchema>(
  { encryption }: House<'encryption'>,
  schema: Schema,
  { id, request }: SealedRequest,
): Static<Schema> {
  const parsed: unknown = JSON.parse(encryption.decrypt(id, request, what))
  return readStored(schema, parsed, what)
}

/** What was asked longer ago than a code or link lives is not answered any more. */
export function isTooOld({ asked_at }: SealedRequest, lifetimeSeconds: number, now: Date): boolean {
  return now.getTime() - Date.parse(asked_at) > lifetimeSeconds * 1000
}

/** Whether another replica may read it: one of a newer release, or with a key that this one lacks. */
export function isOfAnother(error: unknown): boolean {
  if (error instanceof StoredFormError) return error.isNewer
  return error instanceof Error && error.name === 'DecryptionError'
}
