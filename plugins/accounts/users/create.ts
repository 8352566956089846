/** The one place that makes an account. */
import type { Trx } from '../../../db/database.ts'
import {
  type IdentityJson,
  type IdentityRow,
  insertIdentity,
  type NewIdentity,
} from '../../../db/identities.ts'
import { insertUser } from '../../../db/user-rows.ts'
import type { Metadata, UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
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
  const row = {
    id: person.approval.userId,
    aud: person.aud,
    role: person.role ?? house.config.AUTH_JWT_DEFAULT_GROUP_NAME,
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
  const created = house.events.draft('user.created', row.id, {})
  const user = await insertUser(trx, row, created, now)
  if (!user) return undefined
  await announce(house, trx, person.approval)
  return { ...user, identities: await addIdentities(trx, user.id, person, now) }
}

async function addIdentities(
  trx: Trx,
  user_id: string,
  { identities = [] }: NewPerson,
  now: Date,
): Promise<IdentityJson[]> {
  const added: IdentityJson[] = []
  for (const identity of identities) {
    // Identities are ordered by age everywhere, so two must not be of one moment.
    const madeAt = new Date(now.getTime() + added.length)
    added.push(toIdentityJson(await insertIdentity(trx, { ...identity, user_id }, madeAt)))
  }
  return added
}

/** A row just written, in the form in which the person's record holds its identities. */
function toIdentityJson(row: IdentityRow): IdentityJson {
  return {
    ...row,
    last_sign_in_at: row.last_sign_in_at?.toISOString() ?? null,
    created_at: row.created_at?.toISOString() ?? null,
    updated_at: row.updated_at?.toISOString() ?? null,
  }
}
