import { type Static, Type } from '@sinclair/typebox'

import { nullable, StringEnum } from './values/choices.ts'
import { Timestamp, toTimestamp } from './values/timestamp.ts'

const Status = StringEnum(['queued', 'sending', 'deferred', 'sent', 'refused', 'failed'], {
  description:
    'deferred: it is retried. refused: the mail server rejected it. failed: it was not sent, or the outcome is unknown.',
})

export const MailDelivery = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    kind: Type.String(),
    locale: nullable(Type.String()),
    status: Status,
    attempts: Type.Integer(),
    response: nullable(
      Type.String({ description: "The mail server's response, or why it was not called" }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    expires_at: nullable(Timestamp),
    sent_at: nullable(Timestamp),
  },
  { title: 'MailDelivery' },
)
type MailDelivery = Static<typeof MailDelivery>

export const MailDeliveries = Type.Object(
  { mails: Type.Array(MailDelivery) },
  { title: 'MailDeliveries' },
)

interface Source {
  id: string
  kind: string
  locale: string | null
  state: 'queued' | 'sending' | 'sent' | 'dead'
  outcome: string | null
  attempts: number
  reason: string | null
  response: string | null
  created_at: Date
  updated_at: Date
  expires_at: Date | null
  sent_at: Date | null
}

export function toMailDelivery(row: Source): MailDelivery {
  const { id, kind, locale, attempts, reason, response, expires_at, sent_at } = row
  return {
    id,
    kind,
    locale,
    status: toStatus(row),
    attempts,
    response: response ?? reason,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
    expires_at: expires_at && toTimestamp(expires_at),
    sent_at: sent_at && toTimestamp(sent_at),
  }
}

function toStatus({ state, outcome }: Source): Static<typeof Status> {
  if (state === 'dead') return outcome === 'permanent' ? 'refused' : 'failed'
  return state === 'queued' && outcome === 'temporary' ? 'deferred' : state
}
