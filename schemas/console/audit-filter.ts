/** Filters of audit log lists and exports. */
import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from '../errors.ts'
import { readUuid } from '../fields.ts'
import { Timestamp } from '../values/timestamp.ts'
import { readTimestamp } from './user-filter.ts'

/** Query parameters. */
export const AuditFilterQuery = {
  query: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'author:, action: or type: and a part of the value',
    }),
  ),
  user_id: Type.Optional(
    Type.String({ description: 'The author, or the affected user; by cursor' }),
  ),
  action: Type.Optional(Type.String({ maxLength: 64, description: 'Exactly; by cursor' })),
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
}

const Query = Type.Object(AuditFilterQuery)

interface AuditSearch {
  scope: 'author' | 'action' | 'type'
  text: string
}

/** Throws validation_failed. */
function readAuditSearch(query: string | undefined): AuditSearch | undefined {
  if (!query) return undefined
  const [, scope, text = ''] = /^(author|action|type):(.*)$/s.exec(query) ?? []
  if (scope !== 'author' && scope !== 'action' && scope !== 'type') {
    throw validationFailed('query must be author:, action: or type: followed by a text')
  }
  return { scope, text: text.trim() }
}

/** Throws validation_failed. */
export function readAuditFilter(query: Static<typeof Query>) {
  return {
    search: readAuditSearch(query.query),
    userId: query.user_id ? readUuid('user_id', query.user_id) : undefined,
    action: query.action || undefined,
    from: readTimestamp('from', query.from),
    to: readTimestamp('to', query.to),
  }
}
