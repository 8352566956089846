/** The one place that makes an account. */
import type { Db, Trx } from '../../../db/database.ts'
import type { NewIdentity } from '../../../db/identities.ts'
import { deleteUnusedElsewhere, insertUser, type NewUser } from '../../../db/new-users.ts'
import type { Metadata, UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { SignInProof } from '../sessions/draft.ts'
import type { StoredSession } from '../sessions/open.ts'
import { announce } from './announce.ts'
import type { Approval } from './approval.ts'

export interface NewPerson {
  /** What the operator's hook said before the transaction began. */
  approval: Approval
  aud: string
  /** The default role when absent. */
  role?: string
  /** In its stored form, as the phone is. */
  email?: string | null
  phone?: string | null
  passwordHash: string | null
  userMetadata: Metadata
  appMetadata: Metadata
  isAnonymous?: boolean
  isSso?: boolean
  emailConfirmedAt?: Date | null
  phoneConfirmedAt?: Date | null
  bannedUntil?: Date | null
  /** The ways they can sign in, oldest first. */
  identities?: readonly Omit<NewIdentity, 'user_id'>[]
}

export type CreateHouse = House<'config' | 'encryption' | 'events' | 'hooks' | 'jobQueue'>

/** Undefined when another request took an address or the id first. */
export async function create(
  house: CreateHouse,
  trx: Trx,
  person: NewPerson,
  now: Date,
): Promise<UserRecord | undefined> {
  const row = rowOf(house, person)
  const { identities = [] } = person
  const events = house.events.draft('user.created', row.id, {})
  const insert = () => insertUser(trx, row, { identities, events }, now)
  const inserted = await insert()
  const user = inserted ?? ((await makeWay(house, trx, row, now)) ? await insert() : undefined)
  if (user) await announce(house, trx, person.approval)
  return user
}

/**
 * An address is one person's in all audiences, and anybody may sign up with any address in any audience: what comes of that
 * alone keeps nobody out. True where an address is free now.
 */
async function makeWay(
  { events }: House<'events'>,
  trx: Trx,
  person: NewUser,
  now: Date,
): Promise<boolean> {
  const gone = await deleteUnusedElsewhere(trx, person)
  for (const id of gone) await events.record(trx, 'user.deleted', id, { soft: false }, now)
  return gone.length > 0
}

/**
 * An account without identities and its first session, in one statement. Throws token_too_large, and an Error when the
 * id is taken.
 */
export async function enter(
  house: CreateHouse & House<'db' | 'sessions'>,
  person: Omit<NewPerson, 'identities' | 'email' | 'phone'>,
  proof: SignInProof,
  now: Date,
): Promise<StoredSession> {
  const row = rowOf(house, person)
  const newcomer = { person: row, events: house.events.draft('user.created', row.id, {}) }
  const insert = async (db: Db) => {
    const opened = await house.sessions.openNewcomer(db, newcomer, proof, now)
    if (!opened) throw new Error('a random id was taken')
    return opened
  }
  if (!house.hooks.tellOfUser) return insert(house.db)
  return house.db.transaction().execute(async (trx) => {
    const opened = await insert(trx)
    await announce(house, trx, person.approval)
    return opened
  })
}

function rowOf({ config }: House<'config'>, person: NewPerson): NewUser {
  return {
    id: person.approval.userId,
    aud: person.aud,
    role: person.role ?? config.AUTH_JWT_DEFAULT_GROUP_NAME,
    email: person.email ?? null,
    phone: person.phone ?? null,
    encrypted_password: person.passwordHash,
    raw_app_meta_data: person.appMetadata,
    raw_user_meta_data: person.userMetadata,
    is_anonymous: person.isAnonymous ?? false,
    is_sso_user: person.isSso ?? false,
    email_confirmed_at: person.emailConfirmedAt ?? null,
    phone_confirmed_at: person.phoneConfirmedAt ?? null,
    banned_until: person.bannedUntil ?? null,
  }
}
