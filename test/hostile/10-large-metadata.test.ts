/** What people and admins may write of somebody is bounded, and so is the token that carries it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { adminCall, asAdmin } from '../support/admin.ts'
import { type ExternalServer, externalServer, proven } from '../support/external.ts'
import { nextId } from '../support/linking.ts'
import {
  adminToken,
  anonymousPerson,
  autoconfirm,
  confirmedPerson,
  createdPerson,
  newAddress,
  newNumber,
  newPerson,
  password,
  signedIn,
  signUp,
} from '../support/people.ts'
import { type PhoneServer, sharedSmsServer } from '../support/phone-journeys.ts'
import { call, changeUser, outcomeOf, refresh } from '../support/requests.ts'

const most = 65_536
/** An object of so many bytes as Postgres writes it. */
const ofBytes = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text": ""}'.length) })
const refused = [422, 'metadata_too_large']

type Door = (
  server: PhoneServer,
  data: object,
) => PromiseLike<{ statusCode: number; body: string; json: () => unknown }>

const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

const people: Record<string, (server: PhoneServer) => Promise<string>> = {
  'somebody new': async () => newAddress(),
  'somebody known': async ({ app }) => {
    return (await createdPerson(app, { email: newAddress(), email_confirm: true })).email
  },
  'somebody unconfirmed': async ({ app }) => {
    const email = newAddress()
    await signUp(app, { email })
    return email
  },
  'somebody invited': async ({ app }) => {
    const email = newAddress()
    await call(app, '/invite', { email }, { token: await adminToken(app) })
    return email
  },
}

const made = async ({ app }: PhoneServer) => (await createdPerson(app, { email: newAddress() })).id

const doors: Record<string, Door> = {
  'a sign-up by phone': ({ app }, data) =>
    call(app, '/signup', { phone: newNumber(), password, data }),
  'a code to a number': ({ app }, data) => call(app, '/otp', { phone: newNumber(), data }),
  'an anonymous sign-up': ({ app }, data) => call(app, '/signup', { data }),
  'an invitation': async ({ app }, data) =>
    call(app, '/invite', { email: newAddress(), data }, { token: await adminToken(app) }),
  'a generated sign-up link': ({ app }, data) =>
    generate(app, { type: 'signup', email: newAddress(), password, data }),
  'a generated invitation': ({ app }, data) =>
    generate(app, { type: 'invite', email: newAddress(), data }),
  'a generated magic link': ({ app }, data) =>
    generate(app, { type: 'magiclink', email: newAddress(), data }),
  'an admin who makes somebody, with user_metadata': ({ app }, data) =>
    asAdmin(app, 'POST', '/admin/users', { email: newAddress(), user_metadata: data }),
  'an admin who makes somebody, with app_metadata': ({ app }, data) =>
    asAdmin(app, 'POST', '/admin/users', { email: newAddress(), app_metadata: data }),
  'an admin who changes user_metadata': async (server, data) =>
    asAdmin(server.app, 'PUT', `/admin/users/${await made(server)}`, { user_metadata: data }),
  'an admin who changes app_metadata': async (server, data) =>
    asAdmin(server.app, 'PUT', `/admin/users/${await made(server)}`, { app_metadata: data }),
  'the person': async (server, data) => put(server, { data }, await anonymousPerson(server.app)),
  'the person, with an address': async (server, data) =>
    put(server, { data, email: newAddress() }, await anonymousPerson(server.app)),
}

suite('metadata', () => {
  const shared = sharedSmsServer({ env })

  for (const [name, ask] of Object.entries(doors)) {
    test(`${name}: no more than 64 KiB`, async () => {
      const server = await shared()
      const sent = server.sms.messages.length
      const { count: before } = await countUsers(server)
      const isNew = !/changes|the person/.test(name)
      assert.deepEqual(outcomeOf(await ask(server, ofBytes(most + 1))), refused)
      assert.equal(server.sms.messages.length, sent)
      if (isNew) assert.equal((await countUsers(server)).count, before)
      const fits = await ask(server, ofBytes(9_000))
      assert.equal(fits.statusCode, 200, fits.body)
    })
  }

  for (const path of ['/signup', '/otp', '/magiclink']) {
    test(`${path} by email: alike for whoever is asked for`, async () => {
      const server = await shared()
      for (const [who, give] of Object.entries(people)) {
        for (const bytes of [most + 1, most, most - 1, most - 100]) {
          const body = { email: await give(server), data: ofBytes(bytes) }
          const answer = await call(server.app, path, {
            ...body,
            ...(path === '/signup' && { password }),
          })
          assert.deepEqual(outcomeOf(answer), bytes > most ? refused : [200, ''], `${who} ${bytes}`)
        }
      }
    })
  }

  test('is measured as it is after merging, whole, and to the byte', async () => {
    const server = await shared()
    const { app } = server
    const session = await anonymousPerson(server.app)
    const bytes = async () => {
      const { rows } = await app.pool.query<{ bytes: number }>(
        `select octet_length(raw_user_meta_data::text) as bytes from auth.users where id = $1`,
        [session.user.id],
      )
      return rows[0]?.bytes ?? assert.fail()
    }
    const data = { list: [1, { a: [], b: {} }, 'ü'], text: '' }
    assert.equal((await put(server, { data }, session)).statusCode, 200)
    const room = most - (await bytes())
    const over = { text: 'x'.repeat(room + 1) }
    assert.deepEqual(outcomeOf(await put(server, { data: over }, session)), refused)
    const full = { text: 'x'.repeat(room) }
    assert.equal((await put(server, { data: full }, session)).statusCode, 200)
    assert.equal(await bytes(), most)
    const more = await put(server, { data: { b: 1 } }, session)
    assert.deepEqual(outcomeOf(more), refused)
    assert.equal((await put(server, { data: { text: null, b: 1 } }, session)).statusCode, 200)
  })

  test('of twenty changes at once, as many are kept as fit', async () => {
    const server = await shared()
    const session = await anonymousPerson(server.app)
    const change = (index: number) =>
      put(server, { data: { [`key ${index}`]: 'x'.repeat(8_000) } }, session)
    const answers = await Promise.all([...Array(20).keys()].map(change))
    const kept = answers.filter(({ statusCode }) => statusCode === 200).length
    assert.equal(kept, 8)
    const { user_metadata } = await adminCall(server.app, 'GET', `/admin/users/${session.user.id}`)
    assert.equal(Object.keys(user_metadata).length, kept)
  })

  test('a refused change is not in the audit trail', async () => {
    const server = await shared()
    const session = await anonymousPerson(server.app)
    assert.deepEqual(outcomeOf(await put(server, { data: ofBytes(60_000) }, session)), [200, ''])
    const more = { data: { more: 'x'.repeat(10_000) } }
    assert.deepEqual(outcomeOf(await put(server, more, session)), refused)
    const { rows } = await server.app.pool.query(
      `select id from auth.audit_log_entries
       where payload ->> 'actor_id' = $1 and payload ->> 'action' = 'user_modified'`,
      [session.user.id],
    )
    assert.equal(rows.length, 1)
  })

  test('that is too large from earlier may shrink, and not grow', async () => {
    const server = await shared()
    const session = await anonymousPerson(server.app)
    await server.app.db
      .updateTable('users')
      .set({ raw_user_meta_data: JSON.stringify({ a: 'x'.repeat(90_000), b: 'y'.repeat(90_000) }) })
      .where('id', '=', session.user.id)
      .execute()
    assert.deepEqual(outcomeOf(await put(server, { data: { c: 1 } }, session)), refused)
    assert.equal((await put(server, { data: { a: null } }, session)).statusCode, 200)
  })

  test('AUTH_USER_METADATA_MAX_BYTES is the limit', async () => {
    const small = await shared()
    assert.equal(small.config.AUTH_USER_METADATA_MAX_BYTES, most)
  })
})

suite('metadata with a limit of its own', () => {
  const shared = sharedSmsServer({ env: { ...env, AUTH_USER_METADATA_MAX_BYTES: '1024' } })

  test('holds what fits', async () => {
    const server = await shared()
    const ask = (bytes: number) => call(server.app, '/signup', { data: ofBytes(bytes) })
    assert.deepEqual(outcomeOf(await ask(1025)), refused)
    assert.equal((await ask(1024)).statusCode, 200)
  })
})

suite('an access token', () => {
  const shared = sharedSmsServer({ env: { ...env, ...autoconfirm } })

  for (const field of ['user_metadata', 'app_metadata']) {
    test(`too long by its ${field}: the answer says so, and nothing is lost`, async () => {
      const server = await shared()
      const { app } = server
      const session = await newPerson(server.app)
      const { id, email } = session.user
      const grow = { [field]: { large: 'x'.repeat(20_000), small: 1 } }
      await adminCall(app, 'PUT', `/admin/users/${id}`, grow)
      const sessions = () =>
        app.db.selectFrom('sessions').select('id').where('user_id', '=', id).execute()
      const before = await sessions()
      const grant = await call(app, '/token?grant_type=password', { email, password })
      for (const answer of [grant, await refresh(app, session.refresh_token)]) {
        assert.deepEqual(outcomeOf(answer), [422, 'token_too_large'])
        assert.match(answer.json().msg, new RegExp(field))
      }
      assert.deepEqual(await sessions(), before)
      await adminCall(app, 'PUT', `/admin/users/${id}`, { [field]: { large: null } })
      await app.db
        .updateTable('sessions')
        .set({ refreshed_at: new Date(Date.now() - 60_000) })
        .where('user_id', '=', id)
        .execute()
      const again = await refresh(app, session.refresh_token)
      assert.equal(again.statusCode, 200, again.body)
      await signedIn(app, email)
    })
  }

  test('of 16 KiB is carried by a request', async () => {
    const server = await shared()
    const { app } = server
    const session = await newPerson(server.app)
    const data = { large: 'x'.repeat(11_000) }
    assert.equal((await put(server, { data }, session)).statusCode, 200)
    const { access_token } = (await refresh(app, session.refresh_token)).json<Session>()
    assert.ok(access_token.length > 15_000 && access_token.length <= 16_384)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const headers = { authorization: `Bearer ${access_token}`, 'x-padding': 'y'.repeat(45_000) }
    const answer = await fetch(`${origin}/user`, { headers })
    assert.equal(answer.status, 200)
    const tooMany = { ...headers, 'x-padding': 'y'.repeat(70_000) }
    assert.equal((await fetch(`${origin}/user`, { headers: tooMany })).status, 431)
  })
})

suite("a provider's claims", () => {
  test('are kept as far as they fit, and let people in', async (t) => {
    const server = await externalServer(t)
    const who = { ...proven('ann@ex.test', nextId()), name: 'N'.repeat(100_000) }
    for (const _ of [1, 2]) {
      const seen = await server.signInWith('github', who)
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
    }
    await isSmall(server, who.id, 'ann@ex.test')
  })

  test('do not grow an account that is full', async (t) => {
    const server = await externalServer(t)
    await confirmedPerson(server, 'ben@ex.test')
    await server.app.db
      .updateTable('users')
      .set({ raw_user_meta_data: JSON.stringify(ofBytes(most - 10)) })
      .where('email', '=', 'ben@ex.test')
      .execute()
    const who = { ...proven('ben@ex.test', nextId()), name: 'Ben' }
    const seen = await server.signInWith('github', who)
    assert.equal(seen.query.error_code, 'token_too_large')
    const { id } = await server.app.db
      .selectFrom('users')
      .select('id')
      .where('email', '=', 'ben@ex.test')
      .executeTakeFirstOrThrow()
    await adminCall(server.app, 'PUT', `/admin/users/${id}`, { user_metadata: { text: null } })
    assert.ok((await server.signInWith('github', who)).fragment.access_token)
  })
})

async function isSmall(server: ExternalServer, id: string, email: string): Promise<void> {
  const person = await server.personWith({ provider: 'github', id })
  assert.equal(person?.email, email)
  assert.ok(JSON.stringify(person.raw_user_meta_data).length < 10_000)
  const identity = person.identities[0]?.identity_data
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
