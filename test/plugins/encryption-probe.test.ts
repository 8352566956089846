/** A key that does not fit what is stored stops the start, however tokens are signed. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import pino from 'pino'

import { buildApp } from '../../app.ts'
import { migrated } from '../db/sql.ts'
import { configOf } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { gotrueDatabase } from '../support/gotrue/database.ts'

const [one, two] = [Buffer.alloc(32, 'one'), Buffer.alloc(32, 'two')]
const text = (key: Buffer) => key.toString('base64url')
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = {
  ...privateKey.export({ format: 'jwk' }),
  alg: 'ES256',
  kid: 'mine',
  key_ops: ['sign'],
}

const modes: Record<string, Record<string, string>> = {
  'a key of ours': { AUTH_JWT_ALGORITHM: 'ES256' },
  'the shared secret': { AUTH_JWT_ALGORITHM: 'HS256' },
  'the operator’s own keys': { AUTH_JWT_KEYS: JSON.stringify([jwk]) },
}

/** A start and an end, where not said otherwise in development mode, where keys may be as simple as those here. */
async function start(url: string, env: Record<string, string>, dev = true): Promise<void> {
  const config = configOf({ DATABASE_URL: url, ...env }, dev)
  const app = await buildApp({ config, log: pino({ level: 'silent' }) })
  try {
    await app.ready()
  } finally {
    await app.close()
  }
}

suite('the encryption key', () => {
  for (const [mode, signing] of Object.entries(modes)) {
    const starting = async (t: TestContext) => {
      const { url } = await cloneDatabase(t)
      return (env: Record<string, string>) => start(url, { ...signing, ...env })
    }

    test(`signing with ${mode}: another one stops the start by its name, the old one does not`, async (t) => {
      const startWith = await starting(t)
      await startWith({ AUTH_ENCRYPTION_KEY: text(one) })
      await assert.rejects(startWith({ AUTH_ENCRYPTION_KEY: text(two) }), /AUTH_ENCRYPTION_KEY/)
      await assert.rejects(startWith({}), /AUTH_ENCRYPTION_KEY/)
      await startWith({ AUTH_ENCRYPTION_KEY: text(one) })
    })

    test(`signing with ${mode}: one that is made from another secret stops the start`, async (t) => {
      const startWith = await starting(t)
      await startWith({})
      const other = { AUTH_JWT_SECRET: 'another secret that is as long as it has to be' }
      await assert.rejects(startWith(other), /AUTH_JWT_SECRET/)
    })
  }

  test('is replaced while the one before is among the old ones', async (t) => {
    const { url } = await cloneDatabase(t)
    const signing = { AUTH_JWT_ALGORITHM: 'HS256' }
    await start(url, { ...signing, AUTH_ENCRYPTION_KEY: text(one) })
    const changed = { ...signing, AUTH_ENCRYPTION_KEY: text(two) }
    await start(url, { ...changed, AUTH_ENCRYPTION_OLD_KEYS: text(one) })
    await start(url, changed)
    await assert.rejects(start(url, { ...signing, AUTH_ENCRYPTION_KEY: text(one) }))
  })

  test('of its own follows the one made from the secret, and goes back to it', async (t) => {
    const { url } = await cloneDatabase(t)
    const signing = { AUTH_JWT_ALGORITHM: 'HS256' }
    await start(url, signing)
    await start(url, { ...signing, AUTH_ENCRYPTION_KEY: text(one) })
    await assert.rejects(start(url, signing), /AUTH_ENCRYPTION_KEY/)
    await start(url, { ...signing, AUTH_ENCRYPTION_OLD_KEYS: text(one) }, false)
    await start(url, signing)
  })

  test('of its own is asked of nobody whose database GoTrue still reads', async (t) => {
    const { url } = await gotrueDatabase(t)
    await migrated(url)
    await start(url, { AUTH_JWT_ALGORITHM: 'HS256' }, false)
  })

  test('of replicas that start at once, all do', async (t) => {
    const { url } = await cloneDatabase(t)
    const env = { AUTH_JWT_ALGORITHM: 'HS256', AUTH_ENCRYPTION_KEY: text(one) }
    await Promise.all([start(url, env), start(url, env), start(url, env)])
  })
})
