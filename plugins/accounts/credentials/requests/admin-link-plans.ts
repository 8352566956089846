/** The types of link that an admin may ask for, and what each of them is and leaves behind. */
import type { UserChange } from '../../../../db/user-rows.ts'
import type { AuditAction } from '../../audit/entry.ts'
import type { LinkKind } from '../../otp/kinds.ts'

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
  /** The columns that tell when it was made. */
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
