/** Why a message is dead, as operators read it in a list and as `npm run mail -- retry` tells them apart. */
import { storableText } from '../../storable-text.ts'

/** Begins the reason of everything that may have reached its recipient. */
export const uncertain = 'may have been delivered'

export const crashed = `${uncertain}: the server stopped while it was being sent`
export const expired = 'expired: it was not sent while its link or code was good'
export const gaveUp = 'gave up after three days'
export const unknownKind = 'its kind is not known to this version of the server'
export const unknownForm = 'its content has a form that this version of the server does not know'
export const unrendered = 'it could not be rendered; see the log'
export const unreadable = 'its content cannot be decrypted; see AUTH_ENCRYPTION_OLD_KEYS'

/** Characters. */
const longestWords = 1_000

/**
 * What a mail server or a hook said, fit to be stored, logged in clear and shown on a terminal, in one line: they like to
 * repeat the recipient. Of very long words the last is left out, which may be the beginning of an address.
 */
export function quotedWords(text: string): string {
  const words = storableText(text, longestWords).replace(/[\p{Cc}\s]+/gu, ' ')
  const whole = text.length <= longestWords ? words : words.replace(/\S*$/, '…')
  return whole.replace(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, '(address)')
}
