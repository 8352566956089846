/** Letters that only tell: what was changed on an account, to whoever owns its address. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { Config } from '../../../schemas/config/config.ts'
import { commonVariables } from './variables.ts'

export type Notification =
  | { kind: 'password_changed_notification' }
  | { kind: 'email_changed_notification'; OldEmail: string }
  | { kind: 'phone_changed_notification'; Phone: string; OldPhone: string }
  | { kind: 'identity_linked_notification'; Provider: string }
  | { kind: 'identity_unlinked_notification'; Provider: string }
  | { kind: 'mfa_factor_enrolled_notification'; FactorType: string }
  | { kind: 'mfa_factor_unenrolled_notification'; FactorType: string }

type NotificationKind = Notification['kind']

export interface NotificationDeps {
  mailer: Pick<FastifyInstance['mailer'], 'queue'>
  recipients: Pick<FastifyInstance['recipients'], 'mayReceive'>
  siteUrl: string
  enabled: Record<NotificationKind, boolean>
}

export function createNotifications({ mailer, recipients, siteUrl, enabled }: NotificationDeps) {
  /**
   * Tells the person, as they are after the change, where the operator wants them told and they have an address;
   * a changed address is told to the old one. Never a reason to fail, and never held back by a send limit:
   * whoever took an account over must not be able to use the limit up first.
   */
  return async function notify(
    trx: Trx,
    person: UserRecord,
    notification: Notification,
    now: Date,
  ): Promise<void> {
    const { kind, ...details } = notification
    const to =
      notification.kind === 'email_changed_notification' ? notification.OldEmail : person.email
    if (!enabled[kind] || !to || !recipients.mayReceive(to)) return
    const variables = { ...commonVariables(siteUrl, person), ...details }
    await mailer.queue(trx, { kind, to, variables }, now)
  }
}

export function enabledNotifications(config: Config): Record<NotificationKind, boolean> {
  return {
    password_changed_notification: config.AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED,
    email_changed_notification: config.AUTH_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED,
    phone_changed_notification: config.AUTH_MAILER_NOTIFICATIONS_PHONE_CHANGED_ENABLED,
    identity_linked_notification: config.AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED,
    identity_unlinked_notification: config.AUTH_MAILER_NOTIFICATIONS_IDENTITY_UNLINKED_ENABLED,
    mfa_factor_enrolled_notification: config.AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED,
    mfa_factor_unenrolled_notification:
      config.AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED,
  }
}
