/**
 * JSON that another release may read, after an upgrade or a downgrade: queued payloads, flow state. Its schema has a
 * literal `v`, the version of the format; without one it is version 1.
 */
import type { Static, TLiteral, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isRecord } from './record.ts'

/** An unknown format. The message has its version, never its content. */
export class StoredFormError extends Error {
  /** A newer release wrote it: keep it for a process that can read it. */
  readonly isNewer: boolean

  constructor(what: string, isNewer: boolean) {
    super(`${what} was stored in a format that this version of the server does not know`)
    this.name = 'StoredFormError'
    this.isNewer = isNewer
  }
}

export type StoredSchema = TSchema & { properties: { v: TLiteral<number> } }

/** Validates a parsed value against its schema. Throws StoredFormError; `what` names the value. */
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
