/** User metadata is limited, and so is the token that contains it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../schemas/session.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { type ExternalServer, verifiedProfile } from '../../support/external.ts'
import { nextId } from '../../support/linking.ts'
import { type PhoneServer, sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, getUser, refresh, statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import {
  adminCreatedUser,
  adminToken,
  anonymousUser,
  autoconfirm,
  confirmedUser,
  newAddress,
  newNumber,
  password,
  signIn,
  signUp,
  signUpUser,
} from '../../support/users.ts'
import { startHookReceiver } from '../../support/webhooks/hook-receiver.ts'

/** Maximum size of user_metadata and app_metadata together in an access token. */
const max = 10_240
const emptyBytes = '{}'.length
/** An object of so many bytes as Postgres writes it. */
const ofBytes = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text": ""}'.length) })
/** The same of single digits, where blanks and quotes are most of it. */
const ofManyKeys = (bytes: number) =>
  Object.fromEntries(
    Array.from({ length: Math.floor(bytes / 13) }, (_, i) => [`k${10_000 + i}`, 1]),
  )
const tooLarge = [422, 'metadata_too_large']

type Source = (
  server: PhoneServer,
  data: object,
) => PromiseLike<{ statusCode: number; body: string; json: () => unknown }>

const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

const users: Record<string, (server: PhoneServer) => Promise<string>> = {
  'a user new': async () => newAddress(),
  'a user known': async ({ app }) => {
    return (await adminCreatedUser(app, { email: newAddress(), email_confirm: true })).email
  },
  'a user unconfirmed': async ({ app }) => {
    const email = newAddress()
    await signUp(app, { email })
    return email
  },
  'a user invited': async ({ app }) => {
    const email = newAddress()
    await call(app, '/invite', { email }, { token: await adminToken(app) })
    return email
  },
}

const made = async ({ app }: PhoneServer) =>
  (await adminCreatedUser(app, { email: newAddress() })).id

const sources: Record<string, Source> = {
  'a sign-up by phone': ({ app }, data) =>
    call(app, '/signup', { phone: newNumber(), password, data }),
  'an OTP to a phone': ({ app }, data) => call(app, '/otp', { phone: newNumber(), data }),
  'an anonymous sign-up': ({ app }, data) => call(app, '/signup', { data }),
  'an invitation': async ({ app }, data) =>
    call(app, '/invite', { email: newAddress(), data }, { token: await adminToken(app) }),
  'a generated sign-up link': ({ app }, data) =>
    generate(app, { type: 'signup', email: newAddress(), password, data }),
  'a generated invitation': ({ app }, data) =>
    generate(app, { type: 'invite', email: newAddress(), data }),
  'a generated magic link': ({ app }, data) =>
    generate(app, { type: 'magiclink', email: newAddress(), data }),
  'an admin who creates a user with user_metadata': ({ app }, data) =>
    asAdmin(app, 'POST', '/admin/users', { email: newAddress(), user_metadata: data }),
  'an admin who creates a user with app_metadata': ({ app }, data) =>
    asAdmin(app, 'POST', '/admin/users', { email: newAddress(), app_metadata: data }),
  'an admin who changes user_metadata': async (server, data) =>
    asAdmin(server.app, 'PUT', `/admin/users/${await made(server)}`, { user_metadata: data }),
  'an admin who changes app_metadata': async (server, data) =>
    asAdmin(server.app, 'PUT', `/admin/users/${await made(server)}`, { app_metadata: data }),
  'the user': async (server, data) => put(server, { data }, await anonymousUser(server.app)),
  'the user with an email': async (server, data) =>
    put(server, { data, email: newAddress() }, await anonymousUser(server.app)),
}

suite('metadata limit', () => {
  const shared = sharedSmsServer({ env })

  for (const [name, request] of Object.entries(sources)) {
    test(`${name}: rejects more than 10 KiB`, async () => {
      const server = await shared()
      const sent = server.sms.messages.length
      const { count: before } = await countUsers(server)
      const isNew = !/changes|the user/.test(name)
      assert.deepEqual(statusAndCode(await request(server, ofBytes(max + 1))), tooLarge)
      assert.equal(server.sms.messages.length, sent)
      if (isNew) assert.equal((await countUsers(server)).count, before)
      const fits = await request(server, ofBytes(9_000))
      assert.equal(fits.statusCode, 200, fits.body)
    })
  }

  for (const path of ['/signup', '/otp', '/magiclink']) {
    test(`${path} by email: responds identically for each account state`, async () => {
      const server = await shared()
      for (const [who, give] of Object.entries(users)) {
        for (const bytes of [max + 1, max, max - 1, max - 100]) {
          const body = { email: await give(server), data: ofBytes(bytes) }
          const response = await call(server.app, path, {
            ...body,
            ...(path === '/signup' && { password }),
          })
          assert.deepEqual(
            statusAndCode(response),
            bytes > max ? tooLarge : [200, ''],
            `${who} ${bytes}`,
          )
        }
      }
    })
  }

  test('measures the merged metadata to the byte', async () => {
    const server = await shared()
    const { app } = server
    const session = await anonymousUser(server.app)
    const bytes = async () => {
      const { rows } = await app.pool.query<{ bytes: number }>(
        `select octet_length(raw_user_meta_data::text) as bytes from auth.users where id = $1`,
        [session.user.id],
      )
      return rows[0]?.bytes ?? assert.fail()
    }
    const data = { list: [1, { a: [], b: {} }, 'ü'], text: '' }
    assert.equal((await put(server, { data }, session)).statusCode, 200)
    const room = max - emptyBytes - (await bytes())
    const over = { text: 'x'.repeat(room + 1) }
    assert.deepEqual(statusAndCode(await put(server, { data: over }, session)), tooLarge)
    const full = { text: 'x'.repeat(room) }
    assert.equal((await put(server, { data: full }, session)).statusCode, 200)
    assert.equal(await bytes(), max - emptyBytes)
    const more = await put(server, { data: { b: 1 } }, session)
    assert.deepEqual(statusAndCode(more), tooLarge)
    assert.equal((await put(server, { data: { text: null, b: 1 } }, session)).statusCode, 200)
  })

  test('accepts as many of twenty racing changes as fit', async () => {
    const server = await shared()
    const session = await anonymousUser(server.app)
    const change = (index: number) =>
      put(server, { data: { [`key ${index}`]: 'x'.repeat(1_200) } }, session)
    const responses = await Promise.all([...Array(20).keys()].map(change))
    const stored = responses.filter(({ statusCode }) => statusCode === 200).length
    assert.equal(stored, 8)
    const { user_metadata } = await adminCall(server.app, 'GET', `/admin/users/${session.user.id}`)
    assert.equal(Object.keys(user_metadata).length, stored)
  })

  test('writes no audit log entry for a rejected change', async () => {
    const server = await shared()
    const session = await anonymousUser(server.app)
    assert.deepEqual(statusAndCode(await put(server, { data: ofBytes(9_000) }, session)), [200, ''])
    const more = { data: { more: 'x'.repeat(2_000) } }
    assert.deepEqual(statusAndCode(await put(server, more, session)), tooLarge)
    const { rows } = await server.app.pool.query(
      `select id from auth.audit_log_entries
       where payload ->> 'actor_id' = $1 and payload ->> 'action' = 'user_modified'`,
      [session.user.id],
    )
    assert.equal(rows.length, 1)
  })

  test('allows metadata above the limit to shrink but not to grow', async () => {
    const server = await shared()
    const session = await anonymousUser(server.app)
    await server.app.db
      .updateTable('users')
      .set({ raw_user_meta_data: JSON.stringify({ a: 'x'.repeat(90_000), b: 'y'.repeat(90_000) }) })
      .where('id', '=', session.user.id)
      .execute()
    assert.deepEqual(statusAndCode(await put(server, { data: { c: 1 } }, session)), tooLarge)
    assert.equal((await put(server, { data: { a: null } }, session)).statusCode, 200)
  })

  test('applies to user and app metadata together', async () => {
    const server = await shared()
    const { id } = await adminCreatedUser(server.app, { email: newAddress() })
    const change = (changes: object) => asAdmin(server.app, 'PUT', `/admin/users/${id}`, changes)
    const both = { user_metadata: ofBytes(6_000), app_metadata: ofBytes(6_000) }
    assert.deepEqual(statusAndCode(await change(both)), tooLarge)
    assert.equal((await change({ user_metadata: ofBytes(6_000) })).statusCode, 200)
    const rejected = await change({ app_metadata: ofBytes(6_000) })
    assert.deepEqual(statusAndCode(rejected), tooLarge)
    assert.match(rejected.json().msg, /user_metadata and app_metadata together no more than 10240/)
    assert.equal((await change({ app_metadata: ofBytes(3_000) })).statusCode, 200)
  })

  for (const [name, of] of Object.entries({ text: ofBytes, 'many keys': ofManyKeys })) {
    test(`puts accepted metadata into each token: ${name}`, async () => {
      const server = await shared()
      const session = await anonymousUser(server.app, { data: of(max - 100) })
      const refreshed = await refresh(server.app, session.refresh_token)
      assert.equal(refreshed.statusCode, 200, refreshed.body)
      const claims = decodeJwt(refreshed.json<Session>().access_token)
      assert.deepEqual(claims.user_metadata, session.user.user_metadata)
    })
  }
})

suite('AUTH_USER_METADATA_MAX_BYTES', () => {
  const shared = sharedSmsServer({ env: { ...env, AUTH_USER_METADATA_MAX_BYTES: '1024' } })

  test('limits the metadata', async () => {
    const server = await shared()
    const send = (bytes: number) => call(server.app, '/signup', { data: ofBytes(bytes) })
    assert.deepEqual(statusAndCode(await send(1025)), tooLarge)
    assert.equal((await send(1024)).statusCode, 200)
  })

  test('allows 64 KiB when a hook sets the token claims', async (t) => {
    const receiver = await startHookReceiver(t)
    const server = await build(t, {
      env: { ...env, ...autoconfirm, ...receiver.env('CUSTOM_ACCESS_TOKEN') },
    })
    receiver.answer(({ claims }) => {
      const { user_metadata: _, ...stored } = Object(claims)
      return { claims: stored }
    })
    const fits = await call(server.app, '/signup', { data: ofBytes(65_536) })
    assert.equal(fits.statusCode, 200, fits.body)
    const over = await call(server.app, '/signup', { data: ofBytes(65_537) })
    assert.deepEqual(statusAndCode(over), tooLarge)
  })
})

suite('access token size', () => {
  const lines: string[] = []
  const shared = sharedSmsServer({ env: { ...env, ...autoconfirm }, lines })

  const large = { large: 'x'.repeat(20_000) }
  const half = { half: 'x'.repeat(7_000) }
  const omissions = {
    'large user_metadata': { user: large, app: { tier: 1 }, omitted: ['user_metadata'] },
    'large app_metadata': { user: { a: 1 }, app: large, omitted: ['app_metadata'] },
    'both large': { user: large, app: large, omitted: ['user_metadata', 'app_metadata'] },
    'both large together': { user: half, app: half, omitted: ['user_metadata'] },
  }
  for (const [name, { user, app: appData, omitted }] of Object.entries(omissions)) {
    test(`omits ${name} above the limit and logs a warning`, async () => {
      const { app } = await shared()
      const session = await signUpUser(app)
      const { id, email } = session.user
      await app.db
        .updateTable('users')
        .set({
          raw_user_meta_data: JSON.stringify(user),
          raw_app_meta_data: JSON.stringify(appData),
        })
        .where('id', '=', id)
        .execute()

      const grant = await signIn(app, { email })
      for (const response of [grant, await refresh(app, session.refresh_token)]) {
        assert.equal(response.statusCode, 200, response.body)
        const { access_token, user: shown } = response.json<Session>()
        const stored = { user_metadata: user, app_metadata: appData }
        const expected = Object.entries(stored).filter(([claim]) => !omitted.includes(claim))
        const claims = Object.entries(decodeJwt(access_token)).filter(([claim]) => claim in stored)
        assert.deepEqual(Object.fromEntries(claims), Object.fromEntries(expected))
        assert.deepEqual(shown.user_metadata, user)
        assert.equal((await getUser(app, { access_token })).statusCode, 200)
      }
      const warnings = lines
        .map((line) => JSON.parse(line))
        .filter((line) => line.omitted && line.user_id === id)
      assert.deepEqual(
        warnings.map((line) => [line.level, line.user_id, line.omitted]),
        Array(2).fill(['warn', id, omitted]),
      )
    })
  }

  test('allows 16 KiB in a request', async () => {
    const server = await shared()
    const { app } = server
    const session = await signUpUser(server.app)
    const raw_user_meta_data = JSON.stringify({ large: 'x'.repeat(11_000) })
    await app.db
      .updateTable('users')
      .set({ raw_user_meta_data })
      .where('id', '=', session.user.id)
      .execute()
    const { access_token } = (await refresh(app, session.refresh_token)).json<Session>()
    assert.ok(access_token.length > 15_000 && access_token.length <= 16_384)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const headers = { authorization: `Bearer ${access_token}`, 'x-padding': 'y'.repeat(45_000) }
    const response = await fetch(`${origin}/user`, { headers })
    assert.equal(response.status, 200)
    const tooMany = { ...headers, 'x-padding': 'y'.repeat(70_000) }
    assert.equal((await fetch(`${origin}/user`, { headers: tooMany })).status, 431)
  })
})

suite('provider claims', () => {
  const servers = sharedExternalServers()

  test('are truncated to the limit, and the user signs in', async () => {
    const server = await servers()
    const who = { ...verifiedProfile('ann@ex.test', nextId()), name: 'N'.repeat(100_000) }
    for (const _ of [1, 2]) {
      const seen = await server.signInWith('github', who)
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
    }
    await isSmall(server, who.id, 'ann@ex.test')
  })

  test('do not enlarge metadata at the limit', async () => {
    const server = await servers()
    await confirmedUser(server, 'ben@ex.test')
    await server.app.db
      .updateTable('users')
      .set({ raw_user_meta_data: JSON.stringify(ofBytes(max - 100)) })
      .where('email', '=', 'ben@ex.test')
      .execute()
    const who = { ...verifiedProfile('ben@ex.test', nextId()), name: 'Ben' }
    const seen = await server.signInWith('github', who)
    assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
    const user = await server.findUserBy({ provider: 'github', id: who.id })
    assert.deepEqual(user?.raw_user_meta_data, ofBytes(max - 100))
  })
})

async function isSmall(server: ExternalServer, id: string, email: string): Promise<void> {
  const user = await server.findUserBy({ provider: 'github', id })
  assert.equal(user?.email, email)
  assert.ok(JSON.stringify(user.raw_user_meta_data).length < 10_000)
  const identity = user.identities[0]?.identity_data
  assert.ok(JSON.stringify(identity).length < 10_000)
  assert.equal(identity?.email, email)
  assert.equal(identity?.email_verified, true)
}

const put = ({ app }: PhoneServer, changes: object, { access_token }: Session) =>
  changeUser(app, access_token, changes)

const generate = (app: PhoneServer['app'], body: object) =>
  asAdmin(app, 'POST', '/admin/generate_link', body)

function countUsers({ app }: PhoneServer) {
  return app.db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
}
