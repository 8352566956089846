/** Names of dynamically registered clients: users see them, so they must not impersonate other clients (UTS 39). */
import type { Db } from '../../../db/core/database.ts'
import { listVerifiedNames } from '../../../db/oauth-server/clients.ts'
import { invalidClientMetadata } from '../../../schemas/errors.ts'
import { type ComputeSkeleton, loadSkeleton } from '../../usernames/index.ts'

/** Control, format, private-use and separator characters, which hide or reorder text, and letters without a glyph. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u

/** Scripts with similar letters. */
const confusableScripts = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
)

/** Throws invalid_client_metadata. */
export async function checkSelfChosenName(db: Db, name: string | undefined): Promise<void> {
  if (!name) return
  if (name.trim() === '') throw invalid('client_name must not be blank')
  if (invisible.test(name)) throw invalid('client_name must not contain invisible characters')
  if (confusableScripts.filter((script) => script.test(name)).length > 1) {
    throw invalid('client_name must not mix scripts with similar letters')
  }
  const computeSkeleton = await loadSkeleton()
  const forms = listComparableForms(name, computeSkeleton)
  const names = await listVerifiedNames(db)
  const taken = names.flatMap((each) => listComparableForms(each, computeSkeleton))
  if (taken.some((form) => forms.includes(form))) {
    throw invalid('client_name is used by another application')
  }
}

/**
 * Names that differ only in case, accents, width, blanks, punctuation and letters that look alike have a form in common.
 * The table of skeletons is that of lower-case letters, and a capital I looks like an l.
 */
function listComparableForms(name: string, computeSkeleton: ComputeSkeleton): string[] {
  const letters = name.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '') || name
  return [letters, letters.replaceAll('I', 'l')].map((text) =>
    computeSkeleton(text.toLowerCase()).toLowerCase(),
  )
}

const invalid = (description: string) =>
  invalidClientMetadata('invalid_client_metadata', description)
