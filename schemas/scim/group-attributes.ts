/** The attributes of a group (RFC 7643 §4.2). */
import { attribute, complex, referenceAttribute, type ScimAttribute } from './attributes.ts'

const immutable = { mutability: 'immutable' } as const

const memberParts = [
  attribute('value', 'The id of the user.', { caseExact: true, ...immutable }),
  attribute('$ref', 'The address of the user.', referenceAttribute(['User'], immutable)),
  attribute('type', 'Always User.', { canonicalValues: ['User'], ...immutable }),
]

export const groupAttributes: readonly ScimAttribute[] = [
  attribute('displayName', 'The name. Unique in the connection, in any case.', {
    required: true,
    uniqueness: 'server',
  }),
  complex('members', 'Users of the connection.', memberParts, { multiValued: true }),
]
