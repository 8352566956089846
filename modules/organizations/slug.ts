/** Names of organizations in addresses and tokens. */
import { validationFailed } from '../../schemas/errors.ts'

const pattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Throws validation_failed. */
export function readSlug(slug: string): string {
  if (pattern.test(slug)) return slug
  throw validationFailed(
    'slug must have 1 to 63 lower-case letters, digits and hyphens, and no hyphen at its ends',
    422,
  )
}

/** A slug for a name; empty for a name without letters or digits of the Latin script. */
export function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
}
