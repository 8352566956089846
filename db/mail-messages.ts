/** Mail between the request that asked for it and the mail server that took it. */
export interface MailMessagesTable {
  id: string
  kind: string
  /** Recipient and variables, encrypted. */
  payload: string
  state: 'queued' | 'sending' | 'sent' | 'dead'
  attempts: number
  reason: string | null
  created_at: Date
  updated_at: Date
  expires_at: Date | null
  sent_at: Date | null
}
