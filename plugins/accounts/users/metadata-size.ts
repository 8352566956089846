/** How large the metadata of a person may be. */
import type { Trx } from '../../../db/database.ts'
import type { MetadataChange } from '../../../db/metadata-merge.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import type { Metadata } from '../../../db/users.ts'
import { metadataTooLarge } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

/** By the name that clients know the object by. */
export interface GivenMetadata {
  user_metadata?: Metadata | undefined
  app_metadata?: Metadata | undefined
}

/** Throws metadata_too_large. Before anybody looks whose it is: the answer must not depend on that. */
export function checkMetadata({ config }: House<'config'>, given: GivenMetadata): void {
  const most = config.AUTH_USER_METADATA_MAX_BYTES
  for (const name of ['user_metadata', 'app_metadata'] as const) {
    if (jsonBytes(given[name] ?? {}) > most) throw metadataTooLarge(name, most)
  }
}

/** Merges metadata into that of a person. Throws metadata_too_large. */
export async function mergeWithin(
  { config }: House<'config'>,
  trx: Trx,
  id: string,
  { app, user }: MetadataChange,
  now: Date,
): Promise<void> {
  const most = config.AUTH_USER_METADATA_MAX_BYTES
  if (await mergeMetadata(trx, id, { app, user }, most, now)) return
  throw metadataTooLarge(namesOf({ app, user }), most)
}

/** For a refusal by the database, which does not say which of them was too large. */
export function namesOf({ app, user }: MetadataChange): string {
  return [...(user ? ['user_metadata'] : []), ...(app ? ['app_metadata'] : [])].join(' and ')
}

/** As Postgres measures the text of jsonb, in which a blank follows each comma and colon. */
function jsonBytes(metadata: Metadata): number {
  let blanks = 0
  const text = JSON.stringify(metadata, (_key, value: unknown) => {
    blanks += blanksIn(value)
    return value
  })
  return Buffer.byteLength(text) + blanks
}

/** Of this level alone. */
function blanksIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const size = Object.keys(value).length
  if (size === 0) return 0
  return Array.isArray(value) ? size - 1 : 2 * size - 1
}
