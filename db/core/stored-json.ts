/**
 * Columns with JSON. Operators, migrations and other programs write them as well: a value of another kind than the column
 * holds is read as an empty one, so that a row fails no request.
 */
import { type RawBuilder, sql } from 'kysely'

interface JsonColumn {
  kind: 'object' | 'list'
  /** Whether the column may be null: its readers expect null then, in place of an empty value. */
  nullable?: boolean
  /** Written by this server only, never as JSON null: GoTrue writes that for an empty object. */
  isOwn?: boolean
  /** Members that an object must have: one without them is of another kind. */
  needs?: (value: Record<string, unknown>) => boolean
  /** The members of an object, or elements of a list, that are kept; all of them when absent. */
  keeps?: (value: unknown) => boolean
}

const object: JsonColumn = { kind: 'object' }
const objectOrNull: JsonColumn = { kind: 'object', nullable: true }
/** Of optional members, whose readers expect undefined without one. */
const options: JsonColumn = { kind: 'object', isOwn: true, keeps: (value) => value !== null }

/** By the name of the column, which is the same in results. Columns of one name hold the same kind in every table. */
const jsonColumns = new Map<string, JsonColumn>(
  Object.entries<JsonColumn>({
    acting: objectOrNull,
    answer: { ...objectOrNull, needs: ({ body }) => typeof body === 'string' },
    attribute_mapping: object,
    authorization_params: object,
    cached_discovery: objectOrNull,
    data: object,
    identity_data: object,
    last_webauthn_challenge_data: objectOrNull,
    metadata: object,
    parameters: options,
    payload: object,
    public_jwk: object,
    raw_app_meta_data: objectOrNull,
    raw_user_meta_data: objectOrNull,
    resource: object,
    role_mapping: { kind: 'list', keeps: isRoleRule },
    session_data: object,
    settings: options,
    traits: object,
    transports: { kind: 'list', keeps: (value) => typeof value === 'string' },
    user_metadata: object,
    web_authn_credential: objectOrNull,
    web_authn_session_data: objectOrNull,
  }),
)

/** Columns with objects that lists read as text, since they are only serialized again. */
const readAsText = new Set(['raw_app_meta_data', 'raw_user_meta_data'])

/** Lists that a statement makes of rows of another table. */
const nestedRows = new Set(['identities', 'factors'])

/** What a column held in place of an object or list, for the log. */
interface UnreadableJson {
  column: string
  found: string
  /** Postgres's OID of the table; absent for a computed column. */
  tableId?: number
}

const unreadable = new WeakSet<object>()

/** Whether the empty value stands for one that cannot be read. For readers to which empty would mean more access. */
export const isUnreadable = (value: object): boolean => unreadable.has(value)

export type ReportUnreadable = (found: UnreadableJson) => void

/** What reads the JSON text of a column of a result. SQL's null is no text. */
export function getJsonParser(name: string, report: ReportUnreadable): (text: string) => unknown {
  if (nestedRows.has(name)) return (text) => readRows(JSON.parse(text), report)
  const column = jsonColumns.get(name)
  return column ? (text) => readValue(name, column, JSON.parse(text), report) : JSON.parse
}

/** The same for JSON that a statement casts to text; undefined for every other text. */
export function getJsonTextParser(
  name: string,
  report: ReportUnreadable,
): ((text: string) => string | null) | undefined {
  if (!readAsText.has(name)) return undefined
  return (text) => {
    if (text.startsWith('{')) return text
    if (text !== 'null') report({ column: name, found: describe(JSON.parse(text)) })
    return null
  }
}

/** The rows keep their other columns. None of their JSON columns may be null. */
function readRows(value: unknown, report: ReportUnreadable): unknown {
  if (!Array.isArray(value)) return value
  for (const row of value) {
    if (!isObject(row)) continue
    for (const name of Object.keys(row)) {
      const column = jsonColumns.get(name)
      if (column) row[name] = readValue(name, column, row[name], report)
    }
  }
  return value
}

function readValue(name: string, column: JsonColumn, value: unknown, report: ReportUnreadable) {
  const { kind, nullable, isOwn, needs, keeps } = column
  const isKind = kind === 'list' ? Array.isArray(value) : isObject(value)
  if (isKind && (needs?.(Object(value)) ?? true)) {
    return keeps ? withoutOthers(name, value, keeps, report) : value
  }
  if (value === null && nullable) return null
  report({ column: name, found: describe(value) })
  if (nullable) return null
  const empty = kind === 'list' ? [] : {}
  if (value !== null || isOwn) unreadable.add(empty)
  return empty
}

/** The members or elements that the column holds. */
function withoutOthers(
  name: string,
  value: unknown,
  keeps: (value: unknown) => boolean,
  report: ReportUnreadable,
): unknown {
  if (Object.values(Object(value)).every(keeps)) return value
  report({ column: name, found: 'an unusable element' })
  if (Array.isArray(value)) return value.filter(keeps)
  return Object.fromEntries(Object.entries(Object(value)).filter(([, member]) => keeps(member)))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A rule of a connection, or one of a SCIM connection. */
function isRoleRule(value: unknown): boolean {
  if (!isObject(value) || typeof value.role !== 'string') return false
  const matches = [value.attribute, value.value].every((text) => typeof text === 'string')
  return matches || typeof value.group_name === 'string'
}

function describe(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `another ${typeof value}`
}

/** The object in a column of type jsonb, or an empty one: concatenated with an object, any other JSON becomes a list. */
export const storedObject = (column: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(case jsonb_typeof(${column}) when 'object' then ${column} else '{}'::jsonb end)`
