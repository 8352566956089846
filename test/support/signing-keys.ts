/** The signing keys of one replica, over a database that a test made. */
import type { FastifyBaseLogger } from 'fastify'

import { createDb, type Db } from '../../db/database.ts'
import type { Config } from '../../plugins/config/config.ts'
import { encryptionKeys } from '../../plugins/encryption/keys.ts'
import { createEncryption } from '../../plugins/encryption.ts'
import { createListen } from '../../plugins/jwt/signing-keys/listener.ts'
import { createSigningKeys, type SigningKeys } from '../../plugins/jwt/signing-keys.ts'
import { createJwt, type Jwt } from '../../plugins/jwt.ts'
import { createPool } from '../../plugins/pool.ts'
import { configOf } from './config.ts'
import type { Ending } from './ending.ts'

export interface KeyServer {
  config: Config
  db: Db
  keys: SigningKeys
  jwt: Jwt
}

type Environment = Record<string, string>

const silentLog: Pick<FastifyBaseLogger, 'info' | 'warn'> = { info() {}, warn() {} }

/** Knows the database and has not looked into it yet. */
export function keyServer(t: Ending, databaseUrl: string, env: Environment = {}): KeyServer {
  const config = configOf({ DATABASE_URL: databaseUrl, ...env }, false)
  const pool = createPool({ connectionString: databaseUrl, max: 3, log: silentLog })
  const db = createDb(pool, config.AUTH_DB_NAMESPACE)
  const encryption = createEncryption(encryptionKeys(config))
  const listen = createListen(databaseUrl, silentLog)
  const keys = createSigningKeys({ db, config, encryption, log: silentLog, listen })
  t.after(async () => {
    await keys.close()
    await pool.end()
  })
  return { config, db, keys, jwt: createJwt({ config, signingKeys: keys }) }
}

/** As a server after its start. */
export async function startedKeyServer(t: Ending, databaseUrl: string, env: Environment = {}) {
  const server = keyServer(t, databaseUrl, env)
  await server.keys.sync(new Date())
  return server
}
