/** Whose an address is: what sign-ups and external sign-ins are matched by. */
import { type Expression, type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db } from './database.ts'

/** In the text of a statement: what Postgres knows of values could make a plan for each look seem cheaper than one for all. */
const ownAddresses = [sql.lit('email'), sql.lit('phone')]

/**
 * By which identities one of these addresses is somebody's: a provider says that it has verified it. The identities of
 * sign-ups by email and phone do not count: their address is the one in the person's row. Served by identities_email_idx.
 */
const provenIdentities = (
  eb: Pick<ExpressionBuilder<Database, 'users'>, 'selectFrom'>,
  emails: readonly (string | Expression<string>)[],
) =>
  eb
    .selectFrom('identities')
    .where('identities.email', 'in', [...emails])
    .where('identities.provider', 'not in', ownAddresses)
    .where(sql<boolean>`identities.identity_data ->> 'email_verified' = 'true'`)

/**
 * Ids of the people whose address this is, as their own or because a provider has verified it. Two halves, each served by
 * its index: one condition with an `or` of both reads every person there is.
 */
export const ownersOf = (
  eb: Pick<ExpressionBuilder<Database, 'users'>, 'selectFrom'>,
  email: string | Expression<string>,
) =>
  eb
    .selectFrom('users as holders')
    .select('holders.id')
    .where('holders.email', '=', email)
    .where('holders.is_sso_user', '=', sql.lit(false))
    .unionAll(provenIdentities(eb, [email]).select('identities.user_id as id'))

/** Of the rows of `ownersOf`, in what is joined to each of them. */
export const ownerId = sql<string>`owner.id`

/** Identities whose provider has verified one of these addresses. */
export function findIdentityOwners(db: Db, emails: readonly string[], aud: string) {
  return provenIdentities(db, emails)
    .innerJoin('users', 'users.id', 'identities.user_id')
    .select(['identities.user_id', 'identities.provider'])
    .where('users.aud', '=', aud)
    .where('users.deleted_at', 'is', null)
    .execute()
}

/** Whoever other than `except` has the address, as their own or because a provider has verified it; SSO's do not count. */
export const othersWith = (db: Db, email: string, except: string | null) =>
  db
    .selectFrom(ownersOf(db, email).as('owner'))
    .innerJoinLateral(
      db
        .selectFrom('users')
        .select(['users.aud', 'users.is_sso_user'])
        .where('users.id', '=', ownerId)
        .limit(sql.lit(1))
        .as('person'),
      (join) => join.onTrue(),
    )
    .select('owner.id')
    .where('person.is_sso_user', '=', false)
    .where(sql<boolean>`owner.id is distinct from ${except}::uuid`)

/** Whether there is such a person in this audience. */
export async function isTaken(
  db: Db,
  email: string,
  aud: string,
  except: string | null,
): Promise<boolean> {
  const owner = await othersWith(db, email, except)
    .where('person.aud', '=', aud)
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

/** Whether anybody has the address as their own, in whatever audience: it can be nobody else's then. */
export async function isHeld(db: Db, email: string): Promise<boolean> {
  const holder = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .where('is_sso_user', '=', false)
    .executeTakeFirst()
  return holder !== undefined
}

/** People who sign in by one of these addresses themselves, confirmed or not. */
export function findAddressOwners(db: Db, emails: readonly string[], aud: string) {
  return db
    .selectFrom('users')
    .select(['id', 'email', 'email_confirmed_at'])
    .where('email', 'in', emails)
    .where('aud', '=', aud)
    .where('is_sso_user', '=', false)
    .execute()
}
