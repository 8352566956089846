/** What a check of the doctor is given, and what it said. */
import type { TestContext } from 'node:test'

import type { Check, Surroundings } from '../../../cli/doctor/finding.ts'
import { createDb } from '../../../db/database.ts'
import { configuredEncryption } from '../../../plugins/encryption.ts'
import { createPool } from '../../../plugins/pool.ts'
import { configOf } from '../../support/config.ts'
import { fetch } from '../../support/providers/settings.ts'

/** Of a database that nobody listens at, unless the variables name one. */
export function surroundingsOf(
  t: TestContext,
  variables: Record<string, string> = {},
  more: Partial<Surroundings> = {},
): Surroundings {
  const config = configOf(variables)
  const pool = createPool({ connectionString: config.DATABASE_URL, max: 1, log: { warn() {} } })
  t.after(() => pool.end())
  return {
    config,
    db: createDb(pool, config.AUTH_DB_NAMESPACE),
    encryption: configuredEncryption(config, { isShared: false }),
    fetch,
    recipient: undefined,
    now: new Date(),
    ...more,
  }
}

/** A line for each finding: its level and its sentence. */
export async function told(check: Check, surroundings: Surroundings): Promise<string[]> {
  const findings = await check(surroundings)
  return findings.map(({ level, sentence }) => `${level} ${sentence}`)
}
