/** The email outbox. */
export interface MailMessagesTable {
  id: string
  kind: string
  /** Recipient and variables, encrypted; empty after sending. */
  payload: string
  state: 'queued' | 'sending' | 'sent' | 'dead'
  attempts: number
  /** Why it failed or was deferred, without addresses. */
  reason: string | null
  created_at: Date
  updated_at: Date
  expires_at: Date | null
  sent_at: Date | null
  /** The user it concerns; null for an email of an older version. */
  user_id: string | null
  /** The language of the email. */
  locale: string | null
  /** The result of the last attempt; null before the first. */
  outcome: SendResult | null
  /** The mail server's response to an accepted email, without addresses. */
  response: string | null
}

export type SendResult = 'sent' | 'temporary' | 'permanent' | 'ambiguous'
