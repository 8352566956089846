/** Owners of an identifier, for sign-ups and external sign-ins. */
import { type Expression, type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { isEmailAutoconfirmed } from './autoconfirmed-addresses.ts'

/** Literals: with parameters, Postgres could find a custom plan for each look-up cheaper than a generic one. */
const ownAddresses = [sql.lit('email'), sql.lit('phone')]

/**
 * Identities whose provider verified one of these emails. Identities of sign-ups by email and phone do not count: their
 * identifier is that of the user's row. By identities_email_idx.
 */
const verifiedIdentities = (
  eb: Pick<ExpressionBuilder<Database, 'users'>, 'selectFrom'>,
  emails: readonly (string | Expression<string>)[],
) =>
  eb
    .selectFrom('identities')
    .where('identities.email', 'in', [...emails])
    .where('identities.provider', 'not in', ownAddresses)
    .where(sql<boolean>`identities.identity_data ->> 'email_verified' = 'true'`)

/**
 * Ids of the users who own the identifier, by their row or by a verified identity. A union of two indexed halves: a
 * single `or` condition would read every user.
 */
export const findVerifiedOwners = (
  eb: Pick<ExpressionBuilder<Database, 'users'>, 'selectFrom'>,
  email: string | Expression<string>,
) =>
  eb
    .selectFrom('users as holders')
    .select('holders.id')
    .where('holders.email', '=', email)
    .where('holders.is_sso_user', '=', sql.lit(false))
    .unionAll(verifiedIdentities(eb, [email]).select('identities.user_id as id'))

/** The user id in the rows of `findVerifiedOwners`, for joins. */
export const ownerId = sql<string>`owner.id`

/** Identities whose provider verified one of these emails. */
export function findIdentityOwners(db: Db, emails: readonly string[], aud: string) {
  return identityOwners(db, emails, aud).execute()
}

const identityOwners = (db: Db, emails: readonly string[], aud: string) =>
  verifiedIdentities(db, emails)
    .innerJoin('users', 'users.id', 'identities.user_id')
    .select([
      'identities.user_id',
      sql<string | null>`identities.provider`.as('provider'),
      'identities.email',
      sql<boolean>`true`.as('is_proven'),
    ])
    .where('users.aud', '=', aud)
    .where('users.deleted_at', 'is', null)

/** The same, and users with one of these emails in their row: without a provider, proven if confirmed by its holder. */
export function findEmailOwners(db: Db, emails: readonly string[], aud: string) {
  return identityOwners(db, emails, aud)
    .unionAll(
      db
        .selectFrom('users')
        .select((eb) => [
          'users.id as user_id',
          sql<string | null>`null`.as('provider'),
          'users.email',
          eb
            .and([eb('users.email_confirmed_at', 'is not', null), eb.not(isEmailAutoconfirmed(eb))])
            .$castTo<boolean>()
            .as('is_proven'),
        ])
        .where('users.email', 'in', emails)
        .where('users.aud', '=', aud)
        .where('users.is_sso_user', '=', false),
    )
    .execute()
}

/** Users other than `except` who own the email, by their row or by a verified identity, without SSO users. */
export const othersWith = (db: Db, email: string, except: string | null) =>
  db
    .selectFrom(findVerifiedOwners(db, email).as('owner'))
    .innerJoinLateral(
      db
        .selectFrom('users')
        .select(['users.aud', 'users.is_sso_user'])
        .where('users.id', '=', ownerId)
        .limit(sql.lit(1))
        .as('target_user'),
      (join) => join.onTrue(),
    )
    .select('owner.id')
    .where('target_user.is_sso_user', '=', false)
    .where(sql<boolean>`owner.id is distinct from ${except}::uuid`)

/** Whether the identifier has an owner in this audience. */
export async function isTaken(
  db: Db,
  email: string,
  aud: string,
  except: string | null,
): Promise<boolean> {
  const owner = await othersWith(db, email, except)
    .where('target_user.aud', '=', aud)
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

/** Whether a user of any audience has the email in their row. */
export async function isIdentifierTaken(db: Db, email: string): Promise<boolean> {
  const holder = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .where('is_sso_user', '=', false)
    .executeTakeFirst()
  return holder !== undefined
}

/** Users with one of these emails in their row, confirmed or not. */
export function findIdentifierOwners(db: Db, emails: readonly string[], aud: string) {
  return db
    .selectFrom('users')
    .select((eb) => [
      'id',
      'email',
      'email_confirmed_at',
      isEmailAutoconfirmed(eb).as('is_autoconfirmed'),
    ])
    .where('email', 'in', emails)
    .where('aud', '=', aud)
    .where('is_sso_user', '=', false)
    .execute()
}
