/** Passwords that GoTrue encrypted at rest (AUTH_SECURITY_DB_ENCRYPTION_*) open their accounts here. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { hashSync as bcryptHash } from '@node-rs/bcrypt'
import pino from 'pino'

import { buildApp } from '../../app.ts'
import { writeUsers } from '../../cli/users/export.ts'
import { configOf, encryptionKey } from '../support/config.ts'
import { gotrueSealed } from '../support/gotrue/encryption.ts'
import { createdPerson, newAddress, password, signIn } from '../support/people.ts'
import { changeUser, outcomeOf } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const variable = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'
const [key, other] = [Buffer.alloc(32, 'one'), Buffer.alloc(32, 'two')]
const keys = (named: Record<string, Buffer>) => ({
  [variable]: Object.entries(named)
    .map(([id, value]) => `${id}:${value.toString('base64url')}`)
    .join(),
})
const hash = bcryptHash(password, 4)

/** Somebody as GoTrue left them. */
async function takenOver(app: App, keyId = 'first', sealing = key) {
  const email = newAddress()
  const { id } = await createdPerson(app, { email, password, email_confirm: true })
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

/** Another start on the same database: how a sign-in ends there. */
async function signInAgain(url: string, env: Record<string, string>, email: string) {
  const own = { AUTH_JWT_ALGORITHM: 'ES256', AUTH_ENCRYPTION_KEY: encryptionKey }
  const config = configOf({ DATABASE_URL: url, ...own, ...env }, false)
  const app = await buildApp({ config, log: pino({ level: 'silent' }) })
  try {
    await app.ready()
    return (await signIn(app, { email })).statusCode
  } finally {
    await app.close()
  }
}

suite('a password that GoTrue encrypted', () => {
  const servers = sharedServers()
  const serverOf = () => servers({ ...keys({ first: key }), ...requireCurrent })
  const requireCurrent = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true' }

  test('signs in, a wrong one does not, and its hash is one of ours from then on', async () => {
    const { app } = await serverOf()
    const { email, id } = await takenOver(app)
    const wrong = await signIn(app, { email, password: 'another one' })
    assert.deepEqual(outcomeOf(wrong), [400, 'invalid_credentials'])
    for (let times = 0; times < 2; times++) {
      assert.equal((await signIn(app, { email })).statusCode, 200)
    }
    assert.match(await storedPassword(app, id), /^\$argon2id\$/)
  })

  test('is the current one that a change asks for', async () => {
    const { app } = await serverOf()
    const { email, id, stored } = await takenOver(app)
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
    const { app } = await serverOf()
    const { email } = await takenOver(app)
    const folder = await mkdtemp(join(tmpdir(), 'export-'))
    t.after(() => rm(folder, { recursive: true }))
    const file = join(folder, 'people.ndjson')
    await writeUsers(app, { file, format: 'ndjson' })
    const lines = (await readFile(file, 'utf8')).trim().split('\n')
    const person = lines.map((line) => JSON.parse(line)).find((one) => one.email === email)
    assert.equal(person.password_hash, hash)
  })

  test('under a key that is not here is refused like a wrong one, and the log says which key', async (t) => {
    const lines: string[] = []
    const { app, database } = await build(t, { env: keys({ first: key }), lines })
    const readable = await takenOver(app)
    const { email } = await takenOver(app, 'second', other)
    assert.deepEqual(outcomeOf(await signIn(app, { email })), [400, 'invalid_credentials'])
    const said = lines.filter((line) => line.includes('a stored password cannot be read'))
    assert.match(said.join(), /second.*AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS/)
    assert.equal(await signInAgain(database.url, keys({ first: key }), readable.email), 200)
  })

  test('stops the start when none can be read, with the name of the variable', async (t) => {
    const { app, database } = await build(t, { env: keys({ first: key }) })
    const { email } = await takenOver(app)
    const named = { message: new RegExp(`GoTrue knew as "first" to ${variable}`) }
    const startWith = (env: Record<string, string>) => signInAgain(database.url, env, email)
    await assert.rejects(startWith({}), named)
    await assert.rejects(startWith(keys({ second: key })), named)
    await assert.rejects(startWith(keys({ first: other })), named)
    assert.equal(await startWith(keys({ first: key, second: other })), 200)
  })

  test('under the key that GoTrue wrote with, before it was told to write in clear, is read by its own variable', async (t) => {
    const { app } = await build(t, {
      env: {
        AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: 'first',
        AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY: key.toString('base64url'),
      },
    })
    const { email } = await takenOver(app)
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })
})
