/**
 * JSON that one release writes and another one may read, after an upgrade or a downgrade: queued payloads, the state of
 * a flow. Its schema has a literal `v`, the version of the form; what was stored without one is of version 1.
 */
import type { Static, TLiteral, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isRecord } from './record.ts'

/** Of a form that this release does not know. Says which one, never what it holds. */
export class StoredFormError extends Error {
  /** A newer release wrote it: whoever can, keeps it for one that can read it. */
  readonly isNewer: boolean

  constructor(what: string, isNewer: boolean) {
    super(`${what} was stored in a form that this version of the server does not know`)
    this.name = 'StoredFormError'
    this.isNewer = isNewer
  }
}

export type StoredSchema = TSchema & { properties: { v: TLiteral<number> } }

/** Checks a parsed value against the schema of its form. Throws StoredFormError, in which `what` names the value. */
export function readStored<Schema extends StoredSchema>(
  schema: Schema,
  value: unknown,
  what: string,
): Static<Schema> {
  const version = isRecord(value) ? (value.v ?? 1) : undefined
  const versioned = isRecord(value) ? { ...value, v: version } : value
  if (Value.Check(schema, versioned)) return versioned
  throw new StoredFormError(what, Number(version) > schema.properties.v.const)
}
