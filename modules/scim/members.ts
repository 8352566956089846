/** The members that a request names. */
import type { Filter } from 'scim2-parse-filter'

import { scimRejected } from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { isRecord } from '../../schemas/values/record.ts'
import type { Operation } from './patch/operations.ts'
import { invalidValue } from './values.ts'

/** Ids of provisioned users that are added, removed, or replace all members. */
export interface ScimMemberChange extends NamedMembers {
  kind: 'add' | 'remove' | 'set'
}

interface NamedMembers {
  ids: readonly string[]
  /** Values that are no id of this server. */
  others: readonly string[]
}

/** Without those before one that replaces all members. Throws invalidValue and invalidFilter. */
export function readMemberChanges(operations: readonly Operation[]): ScimMemberChange[] {
  const changes = operations.map(readMemberChange)
  const last = changes.findLastIndex(({ kind }) => kind === 'set')
  return last === -1 ? changes : changes.slice(last)
}

/** A repeated removal is no error. */
function readMemberChange({ op, target, value }: Operation): ScimMemberChange {
  if (target.filter) {
    if (op !== 'remove') throw invalidValue('members are added and removed, not changed')
    return { kind: 'remove', ids: readIds(target.filter), others: [] }
  }
  const named = readMembers(value)
  if (op === 'add') return { kind: 'add', ...named }
  const isRemoval = op === 'remove' && value !== undefined && value !== null
  return { kind: isRemoval ? 'remove' : 'set', ...named }
}

/** `value eq "…"`, or several of them. Throws invalidFilter. */
function readIds(filter: Filter): string[] {
  if ('compValue' in filter && filter.op === 'eq' && filter.attrPath.toLowerCase() === 'value') {
    return [String(filter.compValue)].filter(isUuid)
  }
  if ('filters' in filter && filter.op === 'or') return filter.filters.flatMap(readIds)
  throw scimRejected(400, 'invalidFilter', 'members are selected by value eq "id"')
}

/** Throws invalidValue. */
export function readMembers(value: unknown): NamedMembers {
  const members: unknown[] = value === undefined || value === null ? [] : [value].flat()
  const values = members.map((member) => {
    const id = isRecord(member) ? member.value : member
    if (typeof id === 'string') return id.toLowerCase()
    throw invalidValue('A member has the id of a user of this connection as its value')
  })
  return { ids: values.filter(isUuid), others: values.filter((id) => !isUuid(id)) }
}
