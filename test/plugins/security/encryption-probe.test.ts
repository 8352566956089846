/** An encryption key that cannot decrypt the stored values stops the start, for any signing method. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import pino from 'pino'

import { buildApp } from '../../../server/app.ts'
import { testConfig } from '../../support/config.ts'
import { cloneDatabase } from '../../support/database.ts'
import { migratedGotrueDatabase } from '../../support/gotrue/database.ts'

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
  'a stored key': { AUTH_JWT_ALGORITHM: 'ES256' },
  'the shared secret': { AUTH_JWT_ALGORITHM: 'HS256' },
  'configured keys': { AUTH_JWT_KEYS: JSON.stringify([jwk]) },
}

/** Starts and stops the server, in development mode by default because the keys here are simple. */
async function start(url: string, env: Record<string, string>, dev = true): Promise<void> {
  const config = testConfig({ DATABASE_URL: url, ...env }, dev)
  const app = await buildApp({ config, log: pino({ level: 'silent' }) })
  try {
    await app.ready()
  } finally {
    await app.close()
  }
}

suite('encryption key', () => {
  for (const [mode, signing] of Object.entries(modes)) {
    const starting = async (t: TestContext) => {
      const { url } = await cloneDatabase(t)
      return (env: Record<string, string>) => start(url, { ...signing, ...env })
    }

    test(`signing with ${mode}: rejects the start with another key, named in the error`, async (t) => {
      const startWith = await starting(t)
      await startWith({ AUTH_ENCRYPTION_KEY: text(one) })
      await assert.rejects(startWith({ AUTH_ENCRYPTION_KEY: text(two) }), /AUTH_ENCRYPTION_KEY/)
      await assert.rejects(startWith({}), /AUTH_ENCRYPTION_KEY/)
      await startWith({ AUTH_ENCRYPTION_KEY: text(one) })
    })

    test(`signing with ${mode}: rejects the start with a key derived from another secret`, async (t) => {
      const startWith = await starting(t)
      await startWith({})
      const other = { AUTH_JWT_SECRET: 'another secret that is as long as it has to be' }
      await assert.rejects(startWith(other), /AUTH_JWT_SECRET/)
    })
  }

  test('can be replaced while the previous one is among the old keys', async (t) => {
    const { url } = await cloneDatabase(t)
    const signing = { AUTH_JWT_ALGORITHM: 'HS256' }
    await start(url, { ...signing, AUTH_ENCRYPTION_KEY: text(one) })
    const changed = { ...signing, AUTH_ENCRYPTION_KEY: text(two) }
    await start(url, { ...changed, AUTH_ENCRYPTION_OLD_KEYS: text(one) })
    await start(url, changed)
    await assert.rejects(start(url, { ...signing, AUTH_ENCRYPTION_KEY: text(one) }))
  })

  test('can replace the derived key and be replaced by it', async (t) => {
    const { url } = await cloneDatabase(t)
    const signing = { AUTH_JWT_ALGORITHM: 'HS256' }
    await start(url, signing)
    await start(url, { ...signing, AUTH_ENCRYPTION_KEY: text(one) })
    await assert.rejects(start(url, signing), /AUTH_ENCRYPTION_KEY/)
    await start(url, { ...signing, AUTH_ENCRYPTION_OLD_KEYS: text(one) }, false)
    await start(url, signing)
  })

  test('is not required while GoTrue uses the database', async (t) => {
    const { url } = await migratedGotrueDatabase(t)
    await start(url, { AUTH_JWT_ALGORITHM: 'HS256' }, false)
  })

  test('is accepted by replicas that start concurrently', async (t) => {
    const { url } = await cloneDatabase(t)
    const env = { AUTH_JWT_ALGORITHM: 'HS256', AUTH_ENCRYPTION_KEY: text(one) }
    await Promise.all([start(url, env), start(url, env), start(url, env)])
  })
})
