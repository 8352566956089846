/** Names that users choose for organizations. Emails to addresses without an account contain them. */
import { validationFailed } from '../../schemas/errors.ts'

/** Control characters, line breaks, and characters that hide or reorder text; joiners of scripts and emoji are none. */
const hidden = /[\p{Cc}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u200B\u202A-\u202E\u2060-\u2069\uFEFF]/u

/** Text that email programs turn into a link. */
const link = /:\/\/|\bwww\./i

/** Throws validation_failed. */
export function checkOrganizationName(name: string): void {
  if (name.trim() === '') throw validationFailed('name must not be blank', 422)
  if (hidden.test(name)) {
    throw validationFailed('name must not contain line breaks or invisible characters', 422)
  }
  if (link.test(name)) throw validationFailed('name must not contain a link', 422)
}
