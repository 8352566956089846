/** Passwords that GoTrue encrypted at rest (AUTH_SECURITY_DB_ENCRYPTION_*) are accepted here. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { hashSync as bcryptHash } from '@node-rs/bcrypt'
import pino from 'pino'

import { writeUsers } from '../../../../cli/users/index.ts'
import { buildApp } from '../../../../server/app.ts'
import { encryptionKey, testConfig } from '../../../support/config.ts'
import { gotrueSealed } from '../../../support/gotrue/encryption.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { temporaryFolder } from '../../../support/processes/temporary-folder.ts'
import { changeUser, statusAndCode } from '../../../support/requests.ts'
import { type App, build } from '../../../support/server.ts'
import { adminCreatedUser, newAddress, password, signIn } from '../../../support/users.ts'

const variable = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'
const [key, other] = [Buffer.alloc(32, 'one'), Buffer.alloc(32, 'two')]
const keys = (named: Record<string, Buffer>) => ({
  [variable]: Object.entries(named)
    .map(([id, value]) => `${id}:${value.toString('base64url')}`)
    .join(),
})
const hash = bcryptHash(password, 4)

/** A user as GoTrue left them. */
async function gotrueEncrypted(app: App, keyId = 'first', sealing = key) {
  const email = newAddress()
  const { id } = await adminCreatedUser(app, { email, password, email_confirm: true })
  const stored = gotrueSealed(keyId, sealing, id, hash)
  await setPassword(app, id, stored)
  return { email, id, stored }
}

const setPassword = (app: App, id: string, encrypted_password: string) =>
  app.db.updateTable('users').set({ encrypted_password }).where('id', '=', id).execute()

async function storedPassword(app: App, id: string): Promise<string> {
  const found = app.db.selectFrom('users').select('encrypted_password').where('id', '=', id)
  return (await found.executeTakeFirstOrThrow()).encrypted_password ?? ''
}

/** Another start on the same database: the result of a sign-in there. */
async function signInAgain(url: string, env: Record<string, string>, email: string) {
  const own = { AUTH_JWT_ALGORITHM: 'ES256', AUTH_ENCRYPTION_KEY: encryptionKey }
  const config = testConfig({ DATABASE_URL: url, ...own, ...env }, false)
  const app = await buildApp({ config, log: pino({ level: 'silent' }) })
  try {
    await app.ready()
    return (await signIn(app, { email })).statusCode
  } finally {
    await app.close()
  }
}

suite('password encrypted by GoTrue', () => {
  const servers = sharedServers()
  const startServer = () => servers({ ...keys({ first: key }), ...requireCurrent })
  const requireCurrent = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true' }

  test('signs in and is rehashed', async () => {
    const { app } = await startServer()
    const { email, id } = await gotrueEncrypted(app)
    const wrong = await signIn(app, { email, password: 'another one' })
    assert.deepEqual(statusAndCode(wrong), [400, 'invalid_credentials'])
    for (let times = 0; times < 2; times++) {
      assert.equal((await signIn(app, { email })).statusCode, 200)
    }
    assert.match(await storedPassword(app, id), /^\$argon2id\$/)
  })

  test('is verified as the current password of a change', async () => {
    const { app } = await startServer()
    const { email, id, stored } = await gotrueEncrypted(app)
    const { access_token } = (await signIn(app, { email })).json()
    await setPassword(app, id, stored)
    const change = { password: 'a horse of another stable' }
    const wrong = await changeUser(app, access_token, { ...change, current_password: 'nonsense' })
    assert.equal(wrong.json().error_code, 'current_password_invalid')
    const same = await changeUser(app, access_token, { password, current_password: password })
    assert.equal(same.json().error_code, 'same_password')
    const right = await changeUser(app, access_token, { ...change, current_password: password })
    assert.equal(right.statusCode, 200, right.body)
  })

  test('is exported as its hash', async (t) => {
    const { app } = await startServer()
    const { email } = await gotrueEncrypted(app)
    const folder = temporaryFolder(t, 'export')
    const file = join(folder, 'users.ndjson')
    await writeUsers(app, { file, format: 'ndjson' })
    const lines = (await readFile(file, 'utf8')).trim().split('\n')
    const user = lines.map((line) => JSON.parse(line)).find((one) => one.email === email)
    assert.equal(user.password_hash, hash)
  })

  test('is rejected when its key is missing, and the key id is logged', async (t) => {
    const lines: string[] = []
    const { app, database } = await build(t, { env: keys({ first: key }), lines })
    const readable = await gotrueEncrypted(app)
    const { email } = await gotrueEncrypted(app, 'second', other)
    assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'invalid_credentials'])
    const output = lines.filter((line) => line.includes('stored password hash cannot be parsed'))
    assert.match(output.join(), /second.*AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS/)
    assert.equal(await signInAgain(database.url, keys({ first: key }), readable.email), 200)
  })

  test('rejects the start when none can be decrypted, naming the variable', async (t) => {
    const { app, database } = await build(t, { env: keys({ first: key }) })
    const { email } = await gotrueEncrypted(app)
    const named = { message: new RegExp(`GoTrue knew as "first" to ${variable}`) }
    const startWith = (env: Record<string, string>) => signInAgain(database.url, env, email)
    await assert.rejects(startWith({}), named)
    await assert.rejects(startWith(keys({ second: key })), named)
    await assert.rejects(startWith(keys({ first: other })), named)
    assert.equal(await startWith(keys({ first: key, second: other })), 200)
  })

  test('is decrypted with the key of GoTrue’s own variable', async (t) => {
    const { app } = await build(t, {
      env: {
        AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: 'first',
        AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY: key.toString('base64url'),
      },
    })
    const { email } = await gotrueEncrypted(app)
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })
})
