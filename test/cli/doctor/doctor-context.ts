/** The context of a doctor check, and its printed lines. */
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'

import type { Check, DoctorContext } from '../../../cli/doctor/finding.ts'
import { createDb } from '../../../db/core/database.ts'
import { createPool } from '../../../plugins/database/pool/index.ts'
import { configuredEncryption } from '../../../plugins/security/encryption/index.ts'
import { query } from '../../db/sql.ts'
import { testConfig } from '../../support/config.ts'
import { fetch } from '../../support/providers/settings.ts'

/** With an unreachable database unless the variables name one. */
export function createDoctorContext(
  t: TestContext,
  variables: Record<string, string> = {},
  more: Partial<DoctorContext> = {},
): DoctorContext {
  // Test values that the start rejects outside development are accepted; the checks are those of a deployment.
  const config = { ...testConfig(variables), dev: false }
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
export async function runCheck(check: Check, context: DoctorContext): Promise<string[]> {
  const findings = await check(context)
  return findings.map(({ level, sentence }) => `${level} ${sentence}`)
}

/** A new login of this database without rights; dropped after the database. */
export async function createLogin(
  t: TestContext,
  url: string,
): Promise<{ name: string; url: string }> {
  const [name, password] = [`doctor_${randomBytes(4).toString('hex')}`, 'x']
  await query(url, `create role ${name} login password '${password}'`)
  t.after(() => query(process.env.TEST_ADMIN_URL ?? '', `drop role ${name}`))
  return { name, url: Object.assign(new URL(url), { username: name, password }).href }
}
