/** Why an email was moved to dead letters, for operators, and for `npm run mail -- retry`, which reads the reason. */
import { assertPostgresText } from '../../../../schemas/postgres-text.ts'

/** Prefix of the reason of every email that may have been delivered. */
export const uncertain = 'may have been delivered'

export const crashed = `${uncertain}: the server stopped while it was being sent`
export const expired = 'expired: it was not sent while its link or code was valid'
export const gaveUp = 'gave up after three days'
export const unknownKind = 'this version of the server does not know its kind'
export const unknownForm = 'this version of the server does not know the format of its content'
export const unrendered = 'it could not be rendered; see the log'
export const undecryptable = 'its content cannot be decrypted; see AUTH_ENCRYPTION_OLD_KEYS'

/** Characters. */
const maxReasonLength = 1_000

/**
 * The response of a mail server or hook in one line that is safe to store, log and print: servers often repeat the
 * recipient. The last word of a truncated response is dropped, because it may be the beginning of an address.
 */
export function quotedWords(text: string): string {
  const words = assertPostgresText(text, maxReasonLength).replace(/[\p{Cc}\s]+/gu, ' ')
  const whole = text.length <= maxReasonLength ? words : words.replace(/\S*$/, '…')
  return whole.replace(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, '(address)')
}
