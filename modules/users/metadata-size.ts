/** Limits of user metadata. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import type { UserMetadata } from '../../db/tables/users.ts'
import { mergeMetadata } from '../../db/users/merge-user.ts'
import type { MetadataChange } from '../../db/users/metadata-merge.ts'
import { metadataTooLarge } from '../../schemas/errors.ts'
import { metadataLimits } from '../../schemas/values/metadata-limits.ts'

/** Keyed by the name of the field in requests. */
interface GivenMetadata {
  user_metadata?: UserMetadata | undefined
  app_metadata?: UserMetadata | undefined
}

/** Throws metadata_too_large. Called before the user is looked up, so that the response does not depend on it. */
export function checkMetadataSize({ config }: FastifyInstance, given: GivenMetadata): void {
  const limits = metadataLimits(config)
  let together = 0
  for (const name of ['user_metadata', 'app_metadata'] as const) {
    const bytes = given[name] ? jsonBytes(given[name]) : 0
    together += bytes
    if (bytes > limits.each || together > limits.together) throw metadataTooLarge(name, limits)
  }
}

/** Merges metadata of a user. Throws metadata_too_large. */
export async function mergeWithin(
  { config }: FastifyInstance,
  trx: Trx,
  id: string,
  { app, user }: MetadataChange,
  now: Date,
): Promise<void> {
  const limits = metadataLimits(config)
  if (await mergeMetadata(trx, id, { app, user }, limits, now)) return
  throw metadataTooLarge(listMetadataNames({ app, user }), limits)
}

/** For a rejection by the database, which does not name the object. */
export function listMetadataNames({ app, user }: MetadataChange): string {
  return [...(user ? ['user_metadata'] : []), ...(app ? ['app_metadata'] : [])].join(' and ')
}

/** The length of jsonb's text, which has a blank after each comma and colon. */
function jsonBytes(metadata: UserMetadata): number {
  let blanks = 0
  const text = JSON.stringify(metadata, (_key, value: unknown) => {
    blanks += countSeparators(value)
    return value
  })
  return Buffer.byteLength(text) + blanks
}

/** At this level only. */
function countSeparators(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const size = Object.keys(value).length
  if (size === 0) return 0
  return Array.isArray(value) ? size - 1 : 2 * size - 1
}
