/** The types of generated links and their effects. */
import type { UserChange } from '../../../db/users/update-user.ts'
import type { AuditAction } from '../../audit/actions.ts'
import type { LinkKind } from '../../otp/link-types.ts'

export type AdminLinkType =
  | 'signup'
  | 'magiclink'
  | 'recovery'
  | 'invite'
  | 'email_change_current'
  | 'email_change_new'

interface Plan {
  kind: LinkKind
  action: AuditAction
  /** The columns with the time of the link. */
  sent: (now: Date) => UserChange
}

export const plans: Record<AdminLinkType, Plan> = {
  signup: {
    kind: 'confirmation',
    action: 'user_confirmation_requested',
    sent: (now) => ({ confirmation_sent_at: now }),
  },
  invite: {
    kind: 'invite',
    action: 'user_invited',
    sent: (now) => ({ confirmation_sent_at: now, invited_at: now }),
  },
  recovery: {
    kind: 'recovery',
    action: 'user_recovery_requested',
    sent: (now) => ({ recovery_sent_at: now }),
  },
  magiclink: {
    kind: 'magic_link',
    action: 'user_recovery_requested',
    sent: (now) => ({ recovery_sent_at: now }),
  },
  email_change_current: {
    kind: 'email_change_current',
    action: 'user_modified',
    sent: (now) => ({ email_change_sent_at: now, email_change_confirm_status: 0 }),
  },
  email_change_new: {
    kind: 'email_change_new',
    action: 'user_modified',
    sent: (now) => ({ email_change_sent_at: now, email_change_confirm_status: 0 }),
  },
}
