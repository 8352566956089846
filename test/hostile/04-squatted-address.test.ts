/** What people say of themselves is no address of theirs, and no trace of it keeps its owner out. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { adminCall, asAdmin } from '../support/admin.ts'
import { proven } from '../support/external.ts'
import { nextId, unlink } from '../support/linking.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import {
  anonymousPerson,
  confirmedPerson,
  newAddress,
  newNumber,
  password,
  signUp,
} from '../support/people.ts'
import { codeAfter, type PhoneServer, sharedSmsServer } from '../support/phone-journeys.ts'
import { call, changeUser, verify } from '../support/requests.ts'
import type { build } from '../support/server.ts'
import { sharedExternalServers, sharedServers } from '../support/shared-servers.ts'

const sub = crypto.randomUUID()

/** Everything that an identity says by itself. */
const claims = (email: string) => ({
  ...{ email, phone: '15550009999', sub, email_verified: true, phone_verified: true },
  name: 'Mallory',
})

interface Made {
  id: string
  email?: string
  phone?: string
}

type Door = (server: PhoneServer, data: object) => Promise<Made>

const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

const doors: Record<string, Door> = {
  'a sign-up by phone': async (server, data) => {
    const phone = newNumber()
    const body = { phone, password, data }
    const token = await codeAfter(server, phone, () => call(server.app, '/signup', body))
    const verified = await verify(server.app, { type: 'sms', phone, token })
    return { id: verified.json<Session>().user.id, phone }
  },
  'a code to a new number': async (server, data) => {
    const phone = newNumber()
    const token = await codeAfter(server, phone, () => call(server.app, '/otp', { phone, data }))
    const verified = await verify(server.app, { type: 'sms', phone, token })
    return { id: verified.json<Session>().user.id, phone }
  },
  'a repeated sign-up by phone': async (server, data) => {
    const phone = newNumber()
    await codeAfter(server, phone, () => call(server.app, '/signup', { phone, password }))
    const again = { phone, password, data }
    await codeAfter(server, phone, () => call(server.app, '/signup', again))
    return { ...(await idOf(server, { phone })), phone }
  },
  'a sign-up by email': async (server, data) => {
    const email = newAddress()
    const body = { email, password, data }
    const message = await mailAfter(server, email, () => call(server.app, '/signup', body))
    await verify(server.app, { type: 'signup', email, token: codeIn(message) })
    return { ...(await idOf(server, { email })), email }
  },
  'a magic link to a new address': async (server, data) => {
    const email = newAddress()
    await mailAfter(server, email, () => call(server.app, '/otp', { email, data }))
    return { ...(await idOf(server, { email })), email }
  },
  'an invitation': async (server, data) => {
    const email = newAddress()
    const { id } = await adminCall(server.app, 'POST', '/invite', { email, data })
    return { id, email }
  },
  'a generated link': async (server, data) => {
    const email = newAddress()
    const body = { type: 'signup', email, password, data }
    const { id } = await adminCall(server.app, 'POST', '/admin/generate_link', body)
    return { id, email }
  },
  'an admin': async (server, data) => {
    const [email, phone] = [newAddress(), newNumber()]
    const body = { email, phone, user_metadata: data, app_metadata: data }
    const { id } = await adminCall(server.app, 'POST', '/admin/users', body)
    await adminCall(server.app, 'PUT', `/admin/users/${id}`, { user_metadata: data })
    return { id, email, phone }
  },
  'an anonymous person who gets a number': async (server, data) => {
    const phone = newNumber()
    const { access_token: token, user } = await anonymousPerson(server.app, { data })
    const code = await codeAfter(server, phone, () =>
      changeUser(server.app, token, { phone, data }),
    )
    await verify(server.app, { type: 'phone_change', phone, token: code })
    return { id: user.id, phone }
  },
}

suite('metadata of a person', () => {
  const shared = sharedSmsServer({ env })

  for (const [name, make] of Object.entries(doors)) {
    test(`${name}: fills no claim of an identity, and the owner of the address signs up`, async () => {
      const server = await shared()
      const victim = newAddress('victim')
      const { id, email, phone } = await make(server, claims(victim))
      for (const { provider, identity_data: data, email: matched } of await identitiesOf(
        server,
        id,
      )) {
        assert.equal(data.sub, id)
        assert.equal(data.email, provider === 'email' ? email : undefined)
        assert.equal(matched, provider === 'email' ? email : null)
        if (data.phone !== undefined) assert.equal(data.phone, phone)
        if (provider === 'phone') assert.notEqual(data.email_verified, true)
        if (provider === 'email') assert.notEqual(data.phone_verified, true)
      }
      await ownerSignsUp(server, victim)
    })
  }
})

interface Squat {
  provider: string
  email_verified: unknown
}

/** As earlier releases, other servers or a person's own linking left them. */
const squats: Record<string, Squat> = {
  'of a phone': { provider: 'phone', email_verified: false },
  'of a phone that calls it verified': { provider: 'phone', email_verified: true },
  'of an address that the person has left': { provider: 'email', email_verified: true },
  'of a provider that has not verified it': { provider: 'github', email_verified: false },
  'of a provider that says nothing of it': { provider: 'github', email_verified: undefined },
  'of a provider that says something else of it': { provider: 'github', email_verified: 'maybe' },
}

suite('an address in an identity', () => {
  const servers = sharedServers()
  const external = sharedExternalServers()
  for (const [name, squat] of Object.entries(squats)) {
    test(`${name}: is nobody's`, async () => {
      const server = await servers(env)
      const { app } = server
      const squatter = await adminCall(app, 'POST', '/admin/users', { phone: newNumber() })
      const victim = newAddress('victim')
      await squatOn(server, squatter.id, victim, squat)

      await ownerSignsUp(server, victim)
      assert.notEqual((await idOf(server, { email: victim })).id, squatter.id)

      const other = newAddress('victim')
      await squatOn(server, squatter.id, other, squat)
      const made = await asAdmin(app, 'POST', '/admin/users', { email: other })
      assert.equal(made.statusCode, 200, made.body)

      const third = newAddress('victim')
      await squatOn(server, squatter.id, third, squat)
      const guest = await anonymousPerson(app)
      await mailAfter(server, third, () => changeUser(app, guest.access_token, { email: third }))
      const known = await call(app, '/otp', { email: `x${third}`, create_user: false })
      const squatted = await call(app, '/otp', { email: third, create_user: false })
      assert.equal(squatted.json().error_code, known.json().error_code)
    })

    test(`${name}: whoever proves it elsewhere does not become the squatter`, async () => {
      const server = await external()
      const squatter = await anonymousPerson(server.app)
      const victim = newAddress('victim')
      await squatOn(server, squatter.user.id, victim, squat)
      const id = nextId()
      const seen = await server.signInWith('gitlab', proven(victim, id))
      assert.ok(seen.fragment.access_token, JSON.stringify(seen.query))
      const person = await server.personWith({ provider: 'gitlab', id })
      assert.notEqual(person?.id, squatter.user.id)
    })
  }

  test('of a provider that has verified it is taken, whichever way the claim is written', async () => {
    const server = await servers(env)
    for (const email_verified of [true, 'true']) {
      const owner = await adminCall(server.app, 'POST', '/admin/users', { phone: newNumber() })
      const email = newAddress()
      await squatOn(server, owner.id, email, { provider: 'github', email_verified })
      const answer = await call(server.app, '/signup', { email, password })
      assert.deepEqual(answer.json<User>().identities, [])
      const made = await asAdmin(server.app, 'POST', '/admin/users', { email })
      assert.equal(made.json().error_code, 'email_exists')
    }
  })

  test('does not become the address of an account by taking another identity away', async () => {
    const server = await external()
    const session = await confirmedPerson(server)
    const { id } = session.user
    const victim = newAddress('victim')
    await squatOn(server, id, victim, { provider: 'phone', email_verified: true })
    const own = session.user.identities?.[0]?.identity_id ?? ''
    await unlink(server, session, own)
    const { email } = await adminCall(server.app, 'GET', `/admin/users/${id}`)
    assert.notEqual(email, victim)
  })
})

type Server = Pick<Awaited<ReturnType<typeof build>>, 'app' | 'mail'>

async function ownerSignsUp(server: Server, email: string): Promise<void> {
  const message = await mailAfter(server, email, () => signUp(server.app, { email }))
  const body = { type: 'signup', email, token: codeIn(message) }
  const verified = await verify(server.app, body)
  assert.equal(verified.json<Session>().user?.email, email, verified.body)
}

async function squatOn({ app }: Server, user_id: string, email: string, squat: Squat) {
  const { provider, email_verified } = squat
  const data = { sub: user_id, email, email_verified }
  await app.db
    .insertInto('identities')
    .values({
      ...{ user_id, provider, provider_id: crypto.randomUUID() },
      identity_data: JSON.stringify(data),
      ...{ last_sign_in_at: null, created_at: new Date(), updated_at: new Date() },
    })
    .execute()
}

function idOf({ app }: Server, by: { email: string } | { phone: string }) {
  const [column, value] =
    'email' in by ? (['email', by.email] as const) : (['phone', by.phone] as const)
  return app.db.selectFrom('users').select('id').where(column, '=', value).executeTakeFirstOrThrow()
}

function identitiesOf({ app }: Server, id: string) {
  return app.db
    .selectFrom('identities')
    .select(['provider', 'identity_data', 'email'])
    .where('user_id', '=', id)
    .execute()
}
