/** Events of an admin's change; `user.updated` comes with the audit entry. */
import type { Trx } from '../../../db/core/database.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import type { AdminUserChange } from './change.ts'

/** In the transaction of the change. */
export async function emitUserEvents(
  { events }: Deps<'events'>,
  trx: Trx,
  { before, after }: { before: UserRecord; after: UserRecord },
  { passwordHash }: Pick<AdminUserChange, 'passwordHash'>,
  now: Date,
): Promise<void> {
  const { id } = after
  const changed = (name: 'email' | 'phone') => {
    const [previous, current] = [before[name], after[name]]
    if (!current || current === previous) return []
    return events.draft(`${name}.changed`, id, { previous: previous || null, current })
  }
  const drafts = [
    ...(passwordHash ? events.draft('password.changed', id, {}) : []),
    ...changed('email'),
    ...changed('phone'),
    ...banEvents(events, before, after),
  ]
  await events.write(trx, drafts, now)
}

function banEvents({ draft }: Deps<'events'>['events'], before: UserRecord, after: UserRecord) {
  const [was, is] = [before.banned_until, after.banned_until]
  if (was?.getTime() === is?.getTime()) return []
  if (!is) return draft('user.unbanned', after.id, {})
  return draft('user.banned', after.id, { banned_until: is.toISOString() })
}
