/** People's records as admins write them: created, changed and deleted without a mail to anybody. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import { type IdentityJson, insertIdentity } from '../../db/identities.ts'
import {
  deleteUser,
  findUser,
  insertUser,
  lockUser,
  type NewUser,
  type UserRecord,
} from '../../db/users.ts'
import { findTaken, softDeleteUser } from '../../db/users-admin.ts'
import { emailExists, phoneExists, userIdExists, userNotFound } from '../../errors.ts'
import type { NewRecord, RecordChange } from '../../schemas/admin-user.ts'
import { toIdentityJson } from './identity-json.ts'
import { type Change, readChange, writeChange } from './user-records/change.ts'
import { type DraftDeps, draftUser } from './user-records/draft.ts'

declare module 'fastify' {
  interface FastifyInstance {
    userRecords: ReturnType<typeof createUserRecords>
  }
}

interface UserRecordsDeps extends DraftDeps {
  passwords: FastifyInstance['passwords']
}

export function createUserRecords(deps: UserRecordsDeps) {
  /** Throws user_not_found; a softly deleted person is found. */
  async function findLocked(trx: Trx, id: string): Promise<UserRecord> {
    await lockUser(trx, id)
    const user = await findUser(trx, id)
    if (!user) throw userNotFound()
    return user
  }

  return {
    /** Checks a new record and hashes its password. Throws validation_failed. */
    draft: (input: NewRecord, now: Date): Promise<NewUser> => draftUser(deps, input, now),

    /** Stores a draft with an identity for each address. Throws email_exists, phone_exists or user_already_exists. */
    async insert(trx: Trx, draft: NewUser, now: Date): Promise<UserRecord> {
      await refuseTaken(trx, draft, null)
      const user = await insertUser(trx, draft, now)
      // Somebody took an address between the look and the insert, which waited for them to commit.
      if (!user) {
        await refuseTaken(trx, draft, null)
        throw userIdExists()
      }
      return { ...user, identities: await insertIdentities(trx, user, now) }
    },

    /** Checks a change and hashes its password. Throws validation_failed or weak_password. */
    readChange: (input: RecordChange, now: Date): Promise<Change> =>
      readChange(deps.passwords, input, now),

    /** Throws user_not_found, email_exists or phone_exists. */
    async change(trx: Trx, id: string, change: Change, now: Date): Promise<UserRecord> {
      const user = await findLocked(trx, id)
      await refuseTaken(trx, { email: change.email, phone: change.phone }, id)
      try {
        await writeChange(trx, user, change, now)
      } catch (error) {
        throw toTaken(error)
      }
      return findLocked(trx, id)
    },

    /** Deletes the person or, softly, all that tells who they were. Throws user_not_found. */
    async remove(trx: Trx, id: string, { soft }: { soft: boolean }, now: Date) {
      const user = await findLocked(trx, id)
      if (!soft) await deleteUser(trx, id)
      else if (!user.deleted_at) await softDeleteUser(trx, id, now)
      return user
    },
  }
}

type Wanted = Parameters<typeof findTaken>[1]

async function refuseTaken(trx: Trx, { id, email, phone }: Wanted, except: string | null) {
  if (!id && !email && !phone) return
  const taken = await findTaken(trx, { id, email, phone }, except)
  if (taken.email) throw emailExists()
  if (taken.phone) throw phoneExists()
  if (taken.id) throw userIdExists()
}

/** Two requests raced for one address: the unique index (SQLSTATE 23505) told the second. */
function toTaken(error: unknown): unknown {
  const isViolation = error instanceof Error && 'code' in error && error.code === '23505'
  if (!isViolation || !('constraint' in error)) return error
  return String(error.constraint).includes('phone') ? phoneExists() : emailExists()
}

async function insertIdentities(trx: Trx, user: UserRecord, now: Date) {
  const addresses = { email: user.email, phone: user.phone }
  const identities: IdentityJson[] = []
  for (const [provider, address] of Object.entries(addresses)) {
    if (!address) continue
    // Identities are ordered by age everywhere, so two must not be of one moment.
    const madeAt = new Date(now.getTime() + identities.length)
    const unverified = { email_verified: false, phone_verified: false }
    const identity_data = { sub: user.id, [provider]: address, ...unverified }
    const identity = { user_id: user.id, provider, provider_id: user.id, identity_data }
    identities.push(toIdentityJson(await insertIdentity(trx, identity, madeAt)))
  }
  return identities
}

async function userRecords(fastify: FastifyInstance) {
  const { config, passwords } = fastify
  const decorator = createUserRecords({
    passwords,
    defaultRole: config.AUTH_JWT_DEFAULT_GROUP_NAME,
    defaultAudience: config.AUTH_JWT_AUD,
  })
  fastify.decorate('userRecords', decorator)
}

export default fp(userRecords, {
  name: 'user-records',
  fastify: '5.x',
  dependencies: ['config', 'passwords'],
})
