/** A batch of people, stored whole where that works and in halves where a row spoils it. */
import { sql } from 'kysely'

import {
  type BulkUser,
  findTakenInBulk,
  insertBulkIdentities,
  insertBulkUsers,
} from '../../db/bulk-users.ts'
import type { Trx } from '../../db/database.ts'
import type { BulkRecord } from './bulk-record.ts'
import type { Refusal } from './refusals.ts'

/** Stores what can be stored and returns the rest with the reasons. */
export async function storeBatch(trx: Trx, records: BulkRecord[]): Promise<Refusal[]> {
  const [first] = records
  if (!first) return []
  await sql`savepoint batch`.execute(trx)
  try {
    return await insert(trx, records)
  } catch (error) {
    const reason = reasonOf(error)
    if (!reason) throw error
    await sql`rollback to savepoint batch`.execute(trx)
    if (records.length === 1) return [{ line: first.line, reason }]
    const middle = Math.ceil(records.length / 2)
    const refused = await storeBatch(trx, records.slice(0, middle))
    return [...refused, ...(await storeBatch(trx, records.slice(middle)))]
  }
}

async function insert(trx: Trx, records: BulkRecord[]): Promise<Refusal[]> {
  const inserted = await insertBulkUsers(
    trx,
    records.map(({ user }) => user),
  )
  const isNew = ({ user }: BulkRecord) => inserted.delete(user.id)
  const [stored, left]: [BulkRecord[], BulkRecord[]] = [[], []]
  for (const record of records) (isNew(record) ? stored : left).push(record)
  const identities = stored.flatMap((record) => record.identities)
  if (identities.length > 0) await insertBulkIdentities(trx, identities)
  return left.length > 0 ? explain(trx, left) : []
}

async function explain(trx: Trx, records: BulkRecord[]): Promise<Refusal[]> {
  const taken = await findTakenInBulk(
    trx,
    records.map(({ user }) => user),
  )
  const values = (key: 'id' | 'email' | 'phone') => new Set(taken.map((row) => row[key]))
  const known = { id: values('id'), email: values('email'), phone: values('phone') }
  const keys = ['id', 'email', 'phone'] as const
  const isTaken = (user: BulkUser) => keys.filter((key) => user[key] && known[key].has(user[key]))
  return records.map(({ line, user }) => {
    return { line, reason: `somebody has this ${isTaken(user).join(' and ')} already` }
  })
}

/**
 * Faults of a row: wrong data (SQLSTATE class 22), broken constraints (23), and what is longer than an index or deeper than
 * the database takes (54). Undefined for all others.
 */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const code = String(error.code)
  if (code === '23505') return 'somebody has one of its identities already'
  return /^(2[23]|54)/.test(code) ? `the database refuses it: ${error.message}` : undefined
}
