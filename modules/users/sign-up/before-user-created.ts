/** The operator's BEFORE_USER_CREATED hook, called before the transaction. `createUser` requires its permit. */
import { setTimeout as sleep } from 'node:timers/promises'

import type { FastifyInstance } from 'fastify'

import type { Db } from '../../../db/core/database.ts'
import { HookError } from '../../../schemas/errors.ts'
import { findOwner } from './find-owner.ts'
import type { CreationPermit, NewUserClaims, SignUpContact } from './types.ts'

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
