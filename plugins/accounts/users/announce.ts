/**
 * Telling the operator's AFTER_USER_CREATED hook of an account. A worker does it after the commit, until the hook has
 * heard of it: nobody who signs up waits for it, so that no answer and no time tells a new address from a taken one.
 */
import { type Static, Type } from '@sinclair/typebox'

import type { Trx } from '../../../db/database.ts'
import { findUser } from '../../../db/users.ts'
import { readStored } from '../../../schemas/stored.ts'
import { toUser } from '../../../schemas/user.ts'
import type { House } from '../../define-plugin.ts'
import type { Approval } from './approval.ts'

export const announceTask = 'tell_after_user_created'

/** With pauses that grow to six hours, they take about three days, as long as a webhook is tried. */
const maxAttempts = 21

const Announcement = Type.Object({
  v: Type.Literal(1),
  userId: Type.String(),
  /** Of the call, the same for every attempt. */
  uuid: Type.String(),
  /** Encrypted, because it says where somebody was. */
  ip: Type.String(),
})

const what = 'The announcement of an account'

/** Notes in the transaction that makes the account that the hook is to hear of it. */
export async function announce(
  { encryption, hooks, jobQueue }: House<'encryption' | 'hooks' | 'jobQueue'>,
  trx: Trx,
  { userId, ip }: Approval,
): Promise<void> {
  if (!hooks.tellOfUser || ip === null) return
  const uuid = crypto.randomUUID()
  const job: Static<typeof Announcement> = {
    v: 1,
    userId,
    uuid,
    ip: encryption.encrypt(uuid, ip),
  }
  await jobQueue.enqueue(trx, announceTask, job, { maxAttempts })
}

/** The worker's part. Throws HookError, to be called again; an account that is gone by now is told of to nobody. */
export async function tellAnnounced(
  { db, encryption, hooks }: House<'db' | 'encryption' | 'hooks'>,
  payload: unknown,
): Promise<void> {
  const { userId, uuid, ip } = readStored(Announcement, payload, what)
  const user = await findUser(db, userId)
  if (!user) return
  await hooks.tellOfUser?.(toUser(user), { ip: encryption.decrypt(uuid, ip, what), uuid })
}
