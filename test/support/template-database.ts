import { insertUsers } from '../../bench/stored-users.ts'
import { runMigrations } from '../../server/migrate.ts'
import { withClient } from '../../server/with-client.ts'

/**
 * Creates it on the server of this address; the returned function drops it, and those that tests made of it
 * (database.ts). With TEST_USERS, every database of a test starts with this many users.
 */
export async function createTemplate(adminUrl: string, name: string): Promise<() => Promise<void>> {
  await execute(adminUrl, `create database ${name} template template0`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  const log = { debug() {}, info() {}, warn() {} }
  await runMigrations({ connectionString: url.href, schema: 'auth', log })
  const users = Number(process.env.TEST_USERS ?? 0)
  if (users > 0) {
    await withClient({ connectionString: url.href }, (client) => insertUsers(client, 0, users))
  }
  return () => dropTemplates(adminUrl, name)
}

async function dropTemplates(adminUrl: string, name: string): Promise<void> {
  await withClient({ connectionString: adminUrl }, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where datname = $1 or starts_with(datname, $2)',
      [name, `${name}_`],
    )
    for (const { datname } of rows) await client.query(`drop database if exists ${datname}`)
  })
}

async function execute(url: string, statement: string): Promise<void> {
  await withClient({ connectionString: url }, (client) => client.query(statement))
}
