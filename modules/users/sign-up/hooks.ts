/**
 * The operator's hooks around a new user. BEFORE_USER_CREATED is called before the transaction, and `createUser`
 * requires its permit. AFTER_USER_CREATED is called in a job after the commit, until it succeeds.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import { findUser } from '../../../db/users/users.ts'
import { HookError } from '../../../schemas/errors.ts'
import { toUser } from '../../../schemas/user.ts'
import { readStored } from '../../../schemas/values/stored.ts'
import type { CreationPermit, NewUserClaims, SignUpContact } from './types.ts'
import { findOwner } from './user-data.ts'

/** Throws HookError when the hook rejects or fails. */
export async function callBeforeUserCreated(
  { hooks }: FastifyInstance,
  { aud, email, phone, userMetadata, appMetadata, isAnonymous = false }: NewUserClaims,
  ip: string,
): Promise<CreationPermit> {
  const userId = crypto.randomUUID()
  await hooks.beforeUserCreated?.(
    {
      id: userId,
      aud,
      is_anonymous: isAnonymous,
      user_metadata: userMetadata,
      app_metadata: appMetadata,
      ...(email && { email }),
      ...(phone && { phone }),
    },
    ip,
  )
  return { userId, ip }
}

/**
 * For sign-ups with an identifier, also one in use: neither response nor response time may reveal that. Throws
 * HookError.
 */
export function callBeforeUserCreatedForSignUp(
  app: FastifyInstance,
  { contact, aud, data }: SignUpContact,
  ip: string,
): Promise<CreationPermit> {
  const { provider, address } = contact
  const appMetadata = { provider, providers: [provider] }
  return callBeforeUserCreated(
    app,
    { aud, [provider]: address, userMetadata: data, appMetadata },
    ip,
  )
}

/**
 * Not called for an existing account, for which it returns undefined. Not for requests that an unauthenticated client
 * waits for. Throws HookError.
 */
export async function callBeforeUserCreatedIfNew(
  app: FastifyInstance,
  db: Db,
  applicant: SignUpContact,
  ip: string,
): Promise<CreationPermit | undefined> {
  const { contact, aud } = applicant
  if (app.hooks.beforeUserCreated && (await findOwner(db, contact, aud))) return undefined
  return callBeforeUserCreatedForSignUp(app, applicant, ip)
}

/** The assumed duration of a call before the first one, in milliseconds. */
const initialHookMs = 50

/** The duration of the last call in milliseconds. */
interface HookTiming {
  lastMs: number
}

export const createHookTiming = (): HookTiming => ({ lastMs: initialHookMs })

/**
 * `callBeforeUserCreatedIfNew` in constant time, for unauthenticated clients. A rejection is returned, not thrown, as
 * the hook is not called for a known identifier.
 */
export async function callBeforeUserCreatedInConstantTime(
  app: FastifyInstance,
  db: Db,
  applicant: SignUpContact,
  ip: string,
): Promise<CreationPermit | 'rejected' | undefined> {
  const {
    hooks,
    log,
    users: { hookTiming },
  } = app
  if (!hooks.beforeUserCreated) return callBeforeUserCreatedForSignUp(app, applicant, ip)
  const start = performance.now()
  const elapsedMs = () => performance.now() - start
  try {
    const permit = await callBeforeUserCreatedIfNew(app, db, applicant, ip)
    if (permit) hookTiming.lastMs = elapsedMs()
    else await sleep(Math.max(0, hookTiming.lastMs - elapsedMs()))
    return permit
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    log.info({ err: error }, 'hook rejected a new user')
    return 'rejected'
  }
}

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

/**
 * Queues the call in the transaction that creates the account. A sign-up does not wait for it, so that the response time
 * does not distinguish new from known identifiers.
 */
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
