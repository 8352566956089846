import type { MailMessageRow } from '../../db/dead-letters.ts'
import { uncertain } from '../../plugins/mailer/outbox/reasons.ts'

/** Why a mail is not sent again, to stand behind "it" or "this mail"; undefined when nothing speaks against it. */
export function obstacleTo(
  { state, reason, payload, expires_at }: MailMessageRow,
  evenUncertain: boolean,
  now: Date,
): string | undefined {
  if (state === 'sent') return 'was sent'
  if (state !== 'dead') return 'is on its way: it needs no retry'
  if (payload === '' || (expires_at !== null && expires_at <= now)) {
    return 'has expired: its link or code is of no use any more'
  }
  if (!evenUncertain && reason?.startsWith(uncertain)) {
    return `${uncertain}: add --uncertain to send it again nevertheless`
  }
  return undefined
}
