/** Filters of user lists and exports. */
import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from '../errors.ts'
import { StringEnum } from '../values/choices.ts'
import { Timestamp } from '../values/timestamp.ts'

const userStates = [
  'confirmed',
  'unconfirmed',
  'invited',
  'banned',
  'anonymous',
  'sso',
  'deleted',
] as const

/** Query parameters. */
export const UserFilterQuery = {
  state: Type.Optional(
    StringEnum(userStates, { description: 'Only users in this state, by cursor' }),
  ),
  provider: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9:._-]{1,255}$',
      description: 'Only users with an identity of this provider, by cursor',
    }),
  ),
  created_after: Type.Optional(Timestamp),
  created_before: Type.Optional(Timestamp),
}

const Query = Type.Object(UserFilterQuery)

interface UserFilter {
  state: (typeof userStates)[number] | undefined
  provider: string | undefined
  createdAfter: Date | undefined
  createdBefore: Date | undefined
}

/** Undefined without any of them. Throws validation_failed. */
export function readStateFilter(query: Static<typeof Query>): UserFilter | undefined {
  const filter = {
    state: query.state,
    provider: query.provider,
    createdAfter: readTimestamp('created_after', query.created_after),
    createdBefore: readTimestamp('created_before', query.created_before),
  }
  return Object.values(filter).some((value) => value !== undefined) ? filter : undefined
}

/** A leap second is valid in RFC 3339, but not as a Date. Throws validation_failed. */
export function readTimestamp(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) throw validationFailed(`${name} must be a time`)
  return date
}
