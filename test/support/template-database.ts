import { runMigrations } from '../../server/migrate.ts'
import { withClient } from '../../server/with-client.ts'

/** Creates it on the server of this address; the returned function drops it. */
export async function createTemplate(adminUrl: string, name: string): Promise<() => Promise<void>> {
  await execute(adminUrl, `create database ${name} template template0`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  const log = { debug() {}, info() {}, warn() {} }
  await runMigrations({ connectionString: url.href, schema: 'auth', log })
  return () => execute(adminUrl, `drop database if exists ${name}`)
}

async function execute(url: string, statement: string): Promise<void> {
  await withClient({ connectionString: url }, (client) => client.query(statement))
}
