/** The only functions that create a user. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import type { NewIdentity } from '../../../db/identities/identities.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import {
  deleteUnusedInOtherAudiences,
  insertUser,
  type NewUser,
} from '../../../db/users/insert-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { AuthenticationEvent } from '../../sessions/build.ts'
import type { CreatedSession } from '../../sessions/create.ts'
import { createSessionWithUser } from '../../sessions/index.ts'
import { enqueueAfterUserCreated } from './hooks.ts'
import type { CreationPermit } from './types.ts'

export interface NewUserInput {
  /** The result of the operator's hook. */
  permit: CreationPermit
  aud: string
  /** The default role when absent. */
  role?: string
  /** In its stored form, as the phone is. */
  email?: string | null
  phone?: string | null
  passwordHash: string | null
  userMetadata: UserMetadata
  appMetadata: UserMetadata
  isAnonymous?: boolean
  isSso?: boolean
  emailConfirmedAt?: Date | null
  phoneConfirmedAt?: Date | null
  bannedUntil?: Date | null
  /** Oldest first. */
  identities?: readonly Omit<NewIdentity, 'user_id'>[]
}

/** Undefined when another request took an identifier or the id. */
export async function createUser(
  app: FastifyInstance,
  trx: Trx,
  input: NewUserInput,
  now: Date,
): Promise<UserRecord | undefined> {
  const row = toRow(app, input)
  const { identities = [] } = input
  const events = app.events.draft('user.created', row.id, {})
  const insert = () => insertUser(trx, row, { identities, events }, now)
  const inserted = await insert()
  const user =
    inserted ?? ((await deleteUnverifiedSignUp(app, trx, row, now)) ? await insert() : undefined)
  if (user) await enqueueAfterUserCreated(app, trx, input.permit)
  return user
}

/**
 * An identifier belongs to one user across all audiences, and clients may sign up with any identifier in any audience,
 * so an unverified sign-up must not block others. Deletes such sign-ups; returns true when the identifier is available
 * now.
 */
async function deleteUnverifiedSignUp(
  { events }: FastifyInstance,
  trx: Trx,
  user: NewUser,
  now: Date,
): Promise<boolean> {
  const gone = await deleteUnusedInOtherAudiences(trx, user)
  for (const id of gone) await events.record(trx, 'user.deleted', id, { soft: false }, now)
  return gone.length > 0
}

/**
 * Creates a user without identities and their first session in one statement. Throws token_too_large, and an Error when
 * the id is in use.
 */
export async function createUserWithSession(
  app: FastifyInstance,
  user: Omit<NewUserInput, 'identities' | 'email' | 'phone'>,
  authentication: AuthenticationEvent,
  now: Date,
): Promise<CreatedSession> {
  const row = toRow(app, user)
  const newUser = { user: row, events: app.events.draft('user.created', row.id, {}) }
  const insert = async (db: Db) => {
    const opened = await createSessionWithUser(app, db, newUser, authentication, now)
    if (!opened) throw new Error('a random id was taken')
    return opened
  }
  if (!app.hooks.afterUserCreated) return insert(app.db)
  return app.db.transaction().execute(async (trx) => {
    const opened = await insert(trx)
    await enqueueAfterUserCreated(app, trx, user.permit)
    return opened
  })
}

function toRow({ config }: FastifyInstance, user: NewUserInput): NewUser {
  return {
    id: user.permit.userId,
    aud: user.aud,
    role: user.role ?? config.AUTH_JWT_DEFAULT_GROUP_NAME,
    email: user.email ?? null,
    phone: user.phone ?? null,
    encrypted_password: user.passwordHash,
    raw_app_meta_data: user.appMetadata,
    raw_user_meta_data: user.userMetadata,
    is_anonymous: user.isAnonymous ?? false,
    is_sso_user: user.isSso ?? false,
    email_confirmed_at: user.emailConfirmedAt ?? null,
    phone_confirmed_at: user.phoneConfirmedAt ?? null,
    banned_until: user.bannedUntil ?? null,
  }
}
