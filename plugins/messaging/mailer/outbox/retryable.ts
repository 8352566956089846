import type { MailMessageRow } from '../../../../db/emails/dead-letters.ts'
import { uncertain } from './reasons.ts'

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
