/** While GoTrue uses the database as well, its rows are accepted and ours have its form. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { before, suite, test } from 'node:test'

import { reencryptStoredSecrets } from '../../../../cli/takeover/index.ts'
import { finishTakeover } from '../../../../db/gotrue/takeover.ts'
import {
  configuredEncryption,
  createEncryption,
} from '../../../../plugins/security/encryption/index.ts'
import { query } from '../../../db/sql.ts'
import { addTotp, stepUp } from '../../../support/factors/factors.ts'
import { migratedGotrueDatabase } from '../../../support/gotrue/database.ts'
import { gotrueEncrypted } from '../../../support/gotrue/migrated-server.ts'
import { lockUserRow } from '../../../support/locked-user.ts'
import { emailAfter } from '../../../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../../../support/messages/mail-links.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { call, getUser, refresh, verify } from '../../../support/requests.ts'
import { type Built, build } from '../../../support/server.ts'
import {
  adminCreatedUser,
  confirmedUser,
  newAddress,
  newNumber,
  signedIn,
} from '../../../support/users.ts'

const key = randomBytes(32)

/** GoTrue’s link token and the stored hash of its code. */
const gotrueHash = (address: string, code: string) =>
  createHash('sha224')
    .update(address + code)
    .digest('hex')

suite('database used by GoTrue and Postern', () => {
  const ending = endingOfSuite()
  let server: Built
  before(async () => {
    server = await gotrueEncrypted(ending, {
      AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `k1:${key.toString('base64url')}`,
    })
  })
  const rows = (text: string, ...values: string[]) => query(server.database.url, { text, values })

  /** What GoTrue leaves behind when it mails a recovery link. */
  async function gotrueLink(email: string, sentAt: string, prefix = '') {
    const code = '482913'
    const token = prefix + gotrueHash(email, code)
    await rows(
      `with target_user as (update auth.users set recovery_token = $1, recovery_sent_at = now() - $3::interval
          where email = $2 returning id), gone as (delete from auth.one_time_tokens where user_id in (select id from target_user))
        insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
        select gen_random_uuid(), id, 'recovery_token', $1, $2 from target_user`,
      token,
      email,
      sentAt,
    )
    return { code, token }
  }

  const readColumn = async (email: string) =>
    (await rows('select recovery_token from auth.users where email = $1', email))[0]?.recovery_token

  test('accepts a GoTrue link once and invalidates its code', async () => {
    const email = newAddress()
    await confirmedUser(server, email)
    const { code, token } = await gotrueLink(email, '1 hour')

    const opened = await verify(server.app, { type: 'recovery', token_hash: token })

    assert.equal(opened.statusCode, 200, opened.body)
    assert.equal(await readColumn(email), '')
    for (const verification of [{ token_hash: token }, { email, token: code }]) {
      const again = await verify(server.app, { type: 'recovery', ...verification })
      assert.equal(again.json().error_code, 'otp_expired')
    }
  })

  test('accepts a GoTrue code, with PKCE too, until it expires', async () => {
    const email = newAddress()
    await confirmedUser(server, email)
    for (const [age, prefix, status] of [
      ['1 hour', '', 200],
      ['1 hour', 'pkce_', 200],
      ['25 hours', '', 403],
    ] as const) {
      const { code } = await gotrueLink(email, age, prefix)
      const typed = await verify(server.app, { type: 'recovery', email, token: code })
      assert.equal(typed.statusCode, status, typed.body)
    }
  })

  test('invalidates a GoTrue token after ten failed attempts', async () => {
    const email = newAddress()
    await confirmedUser(server, email)
    const { code } = await gotrueLink(email, '1 minute')
    for (let attempt = 0; attempt < 10; attempt++) {
      await verify(server.app, { type: 'recovery', email, token: '000000' })
    }
    const right = await verify(server.app, { type: 'recovery', email, token: code })
    assert.equal(right.statusCode, 403)
  })

  test('stores links and codes in the columns that GoTrue reads', async () => {
    const email = newAddress()
    await confirmedUser(server, email)
    await call(server.app, '/recover', { email })
    const mail = await server.mail.waitFor(
      ({ to, mail: { subject } }) => to === email && !/confirm/i.test(subject ?? ''),
    )
    const token = String(new URL(linkIn(mail)).searchParams.get('token'))

    const [row] = await rows(
      `select u.recovery_token, u.recovery_sent_at > now() - interval '1 minute' as is_recent, t.token_hash
        from auth.users u join auth.one_time_tokens t on t.user_id = u.id and t.token_type = 'recovery_token'
        where u.email = $1`,
      email,
    )
    const code = gotrueHash(email, codeIn(mail))
    assert.deepEqual(row, { recovery_token: code, is_recent: true, token_hash: token })
    assert.equal(
      (await verify(server.app, { type: 'recovery', token_hash: token })).statusCode,
      200,
    )
    assert.equal(await readColumn(email), '')
  })

  test('counts a link guessed from a code as a failed attempt', async () => {
    const email = newAddress()
    await confirmedUser(server, email)
    const mail = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    const attempted = gotrueHash(email, codeIn(mail))

    for (const token_hash of [attempted, `pkce_${attempted}`]) {
      const response = await verify(server.app, { type: 'recovery', token_hash })
      assert.equal(response.json().error_code, 'otp_expired', response.body)
    }
    const typed = await verify(server.app, { type: 'recovery', email, token: codeIn(mail) })
    assert.equal(typed.statusCode, 200, typed.body)
  })

  test('does not confirm an email by a code that GoTrue texted', async () => {
    const [email, phone, code] = [newAddress(), newNumber(), '271828']
    const { id } = await adminCreatedUser(server.app, { email, phone, phone_confirm: true })
    const token_hash = gotrueHash(phone, code)
    await rows(
      `with sent as (update auth.users set confirmation_token = $2, confirmation_sent_at = now() where id = $1)
        insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
        values (gen_random_uuid(), $1, 'confirmation_token', $2, $3)`,
      id,
      token_hash,
      phone,
    )

    for (const type of ['signup', 'invite', 'email']) {
      const response = await verify(server.app, { type, token_hash })
      assert.equal(response.json().error_code, 'otp_expired', response.body)
    }
  })

  test('stores session keys and TOTP secrets as GoTrue does', async () => {
    const email = newAddress()
    const user = await confirmedUser(server, email)
    const factor = await addTotp(server.app, user)
    await stepUp(server.app, user, factor)

    const [stored] = await rows(
      `select refresh_token_hmac_key as key, secret from auth.sessions s
        join auth.mfa_factors f on f.user_id = s.user_id where s.user_id = $1`,
      user.user.id,
    )
    assert.match(String(stored?.key), /^[\w-]{43}$/)
    assert.equal(stored?.secret, factor.secret)
  })

  test('decrypts GoTrue passwords and secrets by their key id', async () => {
    const { email, user } = await createUser(server)
    const gotrue = createEncryption([randomBytes(32)], [], () => ({ key: { id: 'k1', key } }))
    const [{ hash } = { hash: '' }] = await rows(
      'select encrypted_password as hash from auth.users where id = $1',
      user.id,
    )
    await rows(
      'update auth.users set encrypted_password = $2 where id = $1',
      user.id,
      gotrue.seal(user.id, String(hash)),
    )

    await signedIn(server.app, email)
  })

  test('accepts GoTrue access tokens without an issuer', async () => {
    const user = await createUser(server)
    const { iss: _, ...claims } = await server.app.jwt.verify(user.access_token)
    const token = await server.app.jwt.sign({ ...claims })
    const response = await getUser(server.app, { access_token: token })
    assert.equal(response.statusCode, 200, response.body)

    const other = await server.app.jwt.sign({ ...claims, iss: 'https://other.example' })
    assert.equal((await getUser(server.app, { access_token: other })).statusCode, 403)
  })

  test('locks users at the end of the migration in the order of requests', async () => {
    const users = await Promise.all([createUser(server), createUser(server)])
    const [first, second] = users.toSorted((a, b) => (a.user.id < b.user.id ? -1 : 1))
    // The first by id is the last in the table.
    for (const user of [second, first]) await gotrueLink(user?.email ?? '', '1 minute')
    const { app } = server
    const lock = await lockUserRow(app, first?.user.id ?? '')
    const { response: finished } = await lock.queue(1, () => finishTakeover(app.db))
    const free = await rows(
      'select from auth.users where id = $1 for update skip locked',
      second?.user.id ?? '',
    )
    await lock.release()
    await finished
    assert.equal(free.length, 1)
    await app.db.updateTable('postern_takeover').set({ state: 'shared' }).execute()
  })

  test('encrypts each secret and keeps each session after the migration is finished', async () => {
    const user = await createUser(server)
    const { app, config } = server
    await finishTakeover(app.db)
    await reencryptStoredSecrets(app.db, 'auth', configuredEncryption(config, { isShared: false }))

    const plain = await rows(
      `select 1 from auth.sessions where refresh_token_hmac_key !~ '^[{]'
        union all select 1 from auth.mfa_factors where secret <> '' and secret !~ '^[{]'`,
    )
    assert.deepEqual(plain, [])
    assert.equal((await refresh(app, user.refresh_token)).statusCode, 200)
    await app.db.updateTable('postern_takeover').set({ state: 'shared' }).execute()
  })
})

async function createUser(server: Built) {
  const email = newAddress()
  const user = await confirmedUser(server, email)
  return { ...user, email }
}

suite('missing features', () => {
  test('reject the start when in use and not accepted', async (t) => {
    const database = await migratedGotrueDatabase()
    await query(
      database.url,
      `insert into auth.oauth_clients (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method, client_type)
        values (gen_random_uuid(), 'manual', 'https://app.example', 'authorization_code', 'none', 'public')`,
    )

    await assert.rejects(
      build(t, { database }),
      /OAuth clients \(1\).*AUTH_OAUTH_SERVER_ENABLED=true.*ACCEPT_MISSING=oauth_server/s,
    )
    const env = { AUTH_TAKEOVER_ACCEPT_MISSING: 'oauth_server' }
    const { app } = await build(t, { database, env })
    assert.equal(app.gotrueMigration.isShared, true)
  })

  test('do not include the OAuth server when it is enabled', async (t) => {
    const database = await migratedGotrueDatabase()
    await query(
      database.url,
      `insert into auth.oauth_clients (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method,
        client_type) values (gen_random_uuid(), 'manual', 'https://app.example', 'authorization_code', 'none', 'public')`,
    )
    await assert.rejects(build(t, { database }), /ACCEPT_MISSING=oauth_server/)
    const { app } = await build(t, { database, env: { AUTH_OAUTH_SERVER_ENABLED: 'true' } })
    assert.equal(app.gotrueMigration.isShared, true)
  })
})
