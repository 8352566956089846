/** Names of dynamically registered clients: users see them, so they must not impersonate other clients (UTS 39). */
import type { Db } from '../../../db/core/database.ts'
import { listVerifiedNames } from '../../../db/oauth-server/client-names.ts'
import { invalidClientMetadata } from '../../../schemas/errors.ts'

/** Control, format, private-use and separator characters, which hide or reorder text. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u

/** Scripts with similar letters. */
const confusableScripts = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
)

/** Throws invalid_client_metadata. */
export async function checkSelfChosenName(db: Db, name: string | undefined): Promise<void> {
  if (!name) return
  if (invisible.test(name)) throw invalid('client_name must not contain invisible characters')
  if (confusableScripts.filter((script) => script.test(name)).length > 1) {
    throw invalid('client_name must not mix scripts with similar letters')
  }
  const names = await listVerifiedNames(db)
  if (names.some((each) => toComparableForm(each) === toComparableForm(name))) {
    throw invalid('client_name is used by another application')
  }
}

/** Equal for names that differ only in case, accents, width, blanks and punctuation. */
function toComparableForm(name: string): string {
  const letters = name.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '')
  return (letters || name).toLowerCase()
}

const invalid = (description: string) =>
  invalidClientMetadata('invalid_client_metadata', description)
