/** The signing keys of one replica on a database of a test. */
import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import { createDb, type Db } from '../../db/core/database.ts'
import { createNotificationListener } from '../../plugins/database/notifications/listener.ts'
import { createPool } from '../../plugins/database/pool/index.ts'
import { createEncryption } from '../../plugins/security/encryption/index.ts'
import { encryptionKeys } from '../../plugins/security/encryption/keys.ts'
import { createJwt, type Jwt } from '../../plugins/security/jwt/index.ts'
import {
  createSigningKeys,
  type SigningKeys,
} from '../../plugins/security/jwt/signing-keys/index.ts'
import { testConfig } from './config.ts'
import type { Ending } from './processes/ending.ts'

export interface KeyServer {
  config: Config
  db: Db
  keys: SigningKeys
  jwt: Jwt
}

type Environment = Record<string, string>

const silentLog: Pick<FastifyBaseLogger, 'info' | 'warn'> = { info() {}, warn() {} }

/** Has not read the database yet. */
export function keyServer(t: Ending, databaseUrl: string, env: Environment = {}): KeyServer {
  const config = testConfig({ DATABASE_URL: databaseUrl, ...env }, false)
  const pool = createPool({ connectionString: databaseUrl, max: 3, log: silentLog })
  const db = createDb(pool, config.AUTH_DB_NAMESPACE)
  const encryption = createEncryption(encryptionKeys(config))
  const listen = createNotificationListener(databaseUrl, silentLog)
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
