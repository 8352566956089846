/** Databases of earlier releases, from their kept schemas (`npm run schema:keep`). */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { query } from '../db/sql.ts'
import { emptyDatabase, type TestDatabase } from './database.ts'
import type { Ending } from './processes/ending.ts'

const folder = join(import.meta.dirname, '../db/fixtures/schemas')

export interface FormerUsers {
  plain: { email: string; refresh_token: string; link: string }
  /** The name in the kept schemas; a user with TOTP. */
  guarded: { email: string; refresh_token: string; factor: string; secret: string }
}

/** The earliest state whose databases can be upgraded (docs/decisions/2026-11-30-baselines.md). */
export const earliest = '397d0154'

/** Its database, and the secrets of its users. */
export async function formerDatabase(
  t: Ending,
  release = earliest,
): Promise<{ database: TestDatabase; users: FormerUsers }> {
  const database = await emptyDatabase(t)
  const text = readFileSync(join(folder, basename(`${release}.sql`)), 'utf8')
  await query(database.url, text)
  return { database, users: JSON.parse(/^-- (.*)/.exec(text)?.[1] ?? '') }
}
