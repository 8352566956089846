/** Parses the search text of the list of users. */
import type { FastifyInstance } from 'fastify'

import { hasOwner, hasTrigramIndex, type UserSearch } from '../../../db/users/search.ts'
import { isUuid } from '../../../schemas/fields.ts'

/**
 * The owner of a whole identifier or id; otherwise users whose email, phone or name contains the text, or starts with
 * it without trigrams.
 */
export async function readUserSearch(
  { config, readDb: db, users: { listState } }: FastifyInstance,
  text: string,
  aud: string,
): Promise<UserSearch> {
  const given = text.trim().normalize('NFKC')
  const term = given.toLowerCase()
  if (isUuid(term)) return { id: term }
  const digits = /^\+?[\d ()-]+$/.test(term) ? term.replaceAll(/\D/g, '') : ''
  const owner = {
    email: term.includes('@') ? term : null,
    phone: digits.length >= minPhoneDigits ? digits : null,
  }
  // A complete email shares most trigrams with all others, so the index would be slow.
  if ((owner.email || owner.phone) && (await hasOwner(db, owner, aud))) return { owner }
  listState.isIndexed ??= await hasTrigramIndex(db, config.AUTH_DB_NAMESPACE)
  return withoutName(config, partSearch(given, digits, listState.isIndexed))
}

/** GoTrue's filter: a substring of the email or name. */
export function readUserFilter({ config }: FastifyInstance, text: string): UserSearch {
  return withoutName(config, { email: `%${escaped(text)}%`, name: `%${escaped(text)}%` })
}

/** An unindexed name is not searched: that would read all users. */
function withoutName({ AUTH_DB_INDEX_USER_NAMES }: FastifyInstance['config'], search: UserSearch) {
  return AUTH_DB_INDEX_USER_NAMES ? search : { ...search, name: undefined }
}

/** One or two letters match half of all emails, so they must be a prefix. */
const minLettersForSubstringSearch = 3

/** Shorter numbers are searched as substrings. */
const minPhoneDigits = 7

function partSearch(text: string, digits: string, isIndexed: boolean): UserSearch {
  const before = isIndexed && text.length >= minLettersForSubstringSearch ? '%' : ''
  const pattern = `${before}${escaped(text)}%`
  return {
    email: pattern.toLowerCase(),
    name: pattern,
    ...(digits && { phone: `${before}${digits}%` }),
  }
}

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`)
