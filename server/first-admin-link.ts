/** On a database without an admin, creates a one-time link for the first one. There is no default password. */
import type { Config } from '../config/groups/index.ts'
import { hasAdmins } from '../db/admins/admins.ts'
import { createDb } from '../db/core/database.ts'
import { createAdminLink } from '../modules/admins/index.ts'
import { createPool } from '../plugins/database/pool/index.ts'

/** Undefined when the console is disabled, or when there is an admin. */
export async function firstAdminLink(config: Config): Promise<string | undefined> {
  if (!config.AUTH_CONSOLE_ENABLED) return undefined
  const log = { warn() {} }
  const pool = createPool({ connectionString: config.DATABASE_URL, max: 1, log })
  try {
    const db = createDb(pool, config.AUTH_DB_NAMESPACE)
    if (await hasAdmins(db)) return undefined
    const first = { email: null, role: 'owner', createdBy: null } as const
    return (await createAdminLink({ config }, db, first, new Date())).link
  } finally {
    await pool.end()
  }
}
