/** Response types of the admin API that have no schema type of their own. */
import type { Static } from '@sinclair/typebox'

import type { MailDeliveries } from '../../schemas/mail-delivery.ts'

export type ShownEmailDelivery = Static<typeof MailDeliveries>['mails'][number]

export interface ShownAuditEntry {
  id: string
  created_at: string
  ip_address: string
  payload: {
    action?: string
    actor_id?: string
    actor_username?: string
    actor_name?: string
    log_type?: string
    traits?: Record<string, unknown>
  }
}
