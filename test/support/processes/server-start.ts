/** What a start of the server needs, and what prevents one. */
import { createServer } from 'node:net'

import { query } from '../../db/sql.ts'
import { encryptionKey } from '../config.ts'
import { cloneDatabase } from '../database.ts'
import type { Ending } from './ending.ts'
import { listen } from './listening.ts'

/** All that a start requires besides DATABASE_URL. */
export const startSettings = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_API_HOST: '127.0.0.1',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
  AUTH_JWT_ALGORITHM: 'ES256',
  AUTH_ENCRYPTION_KEY: encryptionKey,
}

/** A database with a schema of a newer version. */
export async function newerSchema(t: Ending): Promise<string> {
  const { url } = await cloneDatabase(t)
  await query(
    url,
    `insert into auth.postern_migrations values ('9999-later', '')`,
    `update auth.postern_schema_floor set migration = '9999-later'`,
  )
  return url
}

/** Replaces a database and counts connections. */
export async function listener(t: Ending) {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  t.after(async () => void server.close())
  return { port: await listen(server), connections: () => connections }
}
