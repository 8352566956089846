/** Emails as operators see them. */
import { Type } from '@sinclair/typebox'

import { MailDelivery, toMailDelivery } from '../mail-delivery.ts'
import { nullable } from '../values/choices.ts'

const QueuedMail = Type.Object(
  {
    ...MailDelivery.properties,
    user_id: nullable(Type.String({ format: 'uuid' })),
    retryable: Type.Boolean({ description: 'A dead letter that may be sent again' }),
    uncertain: Type.Boolean({ description: 'It may have been delivered' }),
  },
  { title: 'QueuedMail' },
)

export const QueuedMails = Type.Object(
  { mails: Type.Array(QueuedMail), next_cursor: nullable(Type.String()) },
  { title: 'QueuedMails' },
)

interface Blocker {
  isUncertain: boolean
}

type Source = Parameters<typeof toMailDelivery>[0] & { user_id: string | null }

export function toQueuedMail(row: Source, blocker: Blocker | undefined) {
  const isUncertain = blocker?.isUncertain ?? false
  return {
    ...toMailDelivery(row),
    user_id: row.user_id,
    retryable: blocker === undefined || isUncertain,
    uncertain: isUncertain,
  }
}

export const MailPath = Type.Object({ id: Type.String() })

/** Null for a request without a body. */
export const RetryBody = Type.Union([
  Type.Object({
    uncertain: Type.Optional(
      Type.Boolean({ description: 'Include emails that may have been delivered' }),
    ),
  }),
  Type.Null(),
])
