/**
 * Calls the operator's AFTER_USER_CREATED hook in a job after the commit, until it succeeds. A sign-up does not wait
 * for it, so that the response time does not distinguish new from known identifiers.
 */
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { findUser } from '../../../db/users/users.ts'
import { toUser } from '../../../schemas/user.ts'
import { readStored } from '../../../schemas/values/stored.ts'
import type { CreationPermit } from './types.ts'

export const afterUserCreatedTask = 'tell_after_user_created'

/** About three days, with increasing delays of up to six hours, as for webhooks. */
const maxAttempts = 21

const Announcement = Type.Object({
  v: Type.Literal(1),
  userId: Type.String(),
  /** The id of the call, the same for every attempt. */
  uuid: Type.String(),
  /** Encrypted personal data. */
  ip: Type.String(),
})

const what = 'The after-user-created payload'

/** Queues the call in the transaction that creates the account. */
export async function enqueueAfterUserCreated(
  { encryption, hooks, jobQueue }: FastifyInstance,
  trx: Trx,
  { userId, ip }: CreationPermit,
): Promise<void> {
  if (!hooks.afterUserCreated || ip === null) return
  const uuid = crypto.randomUUID()
  const job: Static<typeof Announcement> = {
    v: 1,
    userId,
    uuid,
    ip: encryption.encrypt(uuid, ip),
  }
  await jobQueue.enqueue(trx, afterUserCreatedTask, job, { maxAttempts })
}

/** The job. Throws HookError to be retried; does nothing for a deleted account. */
export async function runAfterUserCreated(
  { db, encryption, hooks }: FastifyInstance,
  payload: unknown,
): Promise<void> {
  const { userId, uuid, ip } = readStored(Announcement, payload, what)
  const user = await findUser(db, userId)
  if (!user) return
  await hooks.afterUserCreated?.(toUser(user), { ip: encryption.decrypt(uuid, ip, what), uuid })
}
