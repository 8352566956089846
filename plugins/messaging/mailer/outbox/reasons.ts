/** Why an email was moved to dead letters, for operators, and for `npm run mail -- retry`, which reads the reason. */
import type { MailMessageRow } from '../../../../db/emails/dead-letters.ts'
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

interface RetryBlocker {
  /** The end of a sentence that begins with "it" or "this mail". */
  sentence: string
  /** It may have been delivered: the operator must confirm the retry. */
  isUncertain: boolean
}

/** Why an email cannot be retried; undefined when it can. */
export function retryBlocker(
  { state, reason, payload, expires_at }: Omit<MailMessageRow, 'updated_at'>,
  now: Date,
): RetryBlocker | undefined {
  const blocked = (sentence: string) => ({ sentence, isUncertain: false })
  if (state === 'sent') return blocked('was sent')
  if (state !== 'dead') return blocked('is on its way: it needs no retry')
  if (payload === '' || (expires_at !== null && expires_at <= now)) {
    return blocked('has expired: its link or code is no longer valid')
  }
  return reason?.startsWith(uncertain) ? { sentence: uncertain, isUncertain: true } : undefined
}
