/** What an admin changed of a record, as events; that it was changed at all is told with the audit entry. */
import type { Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { Change } from './admin-change.ts'

/** In the transaction of the change. */
export async function tellChanges(
  { events }: House<'events'>,
  trx: Trx,
  { before, after }: { before: UserRecord; after: UserRecord },
  { passwordHash }: Pick<Change, 'passwordHash'>,
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

function banEvents({ draft }: House<'events'>['events'], before: UserRecord, after: UserRecord) {
  const [was, is] = [before.banned_until, after.banned_until]
  if (was?.getTime() === is?.getTime()) return []
  if (!is) return draft('user.unbanned', after.id, {})
  return draft('user.banned', after.id, { banned_until: is.toISOString() })
}
